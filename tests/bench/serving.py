#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""serving.py POSENC BARE [--rounds N] [--seconds S]: the daemon under wrk, beside the bare responder (what the
kernel allows one thread) and nginx with the same body as a file. All three are measured in turn within each round;
a ratio is taken inside a round, and medians are printed. Nothing is asserted: these are figures to read."""
import argparse
import ctypes
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = [  # name, target
    ("1 KiB", "/v1/tables/sinusoidal.bin?length=4&width=64"),
    ("32 KiB", "/v1/tables/sinusoidal.bin?length=128&width=64"),
    ("4 MiB", "/v1/tables/sinusoidal.bin?length=16384&width=64"),
]
SCRIPTS = ["many_keys", "gather", "mixed"]  # wrk cannot read a 304 that has a Content-Length


def exchange(port, target, head=""):
    """The raw bytes of one answer that has a Content-Length."""
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.sendall(f"GET {target} HTTP/1.1\r\nHost: x\r\n{head}\r\n".encode())
        data = b""
        while b"\r\n\r\n" not in data:
            data += s.recv(65536)
        n = data.index(b"\r\n\r\n") + 4
        size = int(re.search(rb"(?i)content-length: (\d+)", data[:n])[1])
        while len(data) < n + size:
            data += s.recv(1 << 20)
        return data[:n], data[n:]


def wrk(port, target, seconds, script=None):
    argv = ["wrk", "-t1", "-c64", f"-d{seconds}s", "--latency"]
    if script:
        argv += ["-s", os.path.join(HERE, script + ".lua")]
    argv += [f"http://127.0.0.1:{port}{target}"]
    out = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    p99 = re.search(r"99%\s+(\S+)", out)
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), p99[1] if p99 else "-"


def start(argv, **more):
    """A server that ends with us, at the latest."""
    return subprocess.Popen(argv, preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL), **more)


class Posenc:
    def __init__(self, binary):
        self.proc = start([binary, "serve", "--listen", "127.0.0.1:0", "--threads", "1", "--log-level", "warn",
                           "--log-format", "text"], stderr=subprocess.PIPE, text=True)
        line = self.proc.stderr.readline()
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)", line)[1])


class Bare:
    def __init__(self, binary, answer, folder):
        path = os.path.join(folder, "answer")
        with open(path, "wb") as f:
            f.write(answer)
        self.proc = start([binary, path], stdout=subprocess.PIPE, text=True)
        self.port = int(self.proc.stdout.readline())


class Nginx:
    def __init__(self, body, folder):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        with open(os.path.join(folder, "body.bin"), "wb") as f:
            f.write(body)
        os.chmod(folder, 0o755)
        conf = os.path.join(folder, "nginx.conf")
        with open(conf, "w") as f:
            f.write(f"worker_processes 1; daemon off; pid {folder}/pid; error_log /dev/null;\n"
                    "events { worker_connections 1024; }\n"
                    "http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;\n"
                    f" open_file_cache max=10; server {{ listen 127.0.0.1:{self.port}; root {folder}; }} }}\n")
        self.proc = start(["nginx", "-p", folder, "-c", conf], stderr=subprocess.DEVNULL)
        time.sleep(0.5)


def stop(*servers):
    for s in servers:
        s.proc.send_signal(signal.SIGTERM)
        s.proc.wait(10)


def cell(values):
    return f"{statistics.median(values):10.2f}"


def hot(args, folder):
    print(f"{'hot table':<10}{'posenc/s':>12}{'bare/s':>12}{'nginx/s':>12}{'vs bare':>10}{'vs nginx':>10}{'p99':>10}")
    for name, target in TABLES:
        p = Posenc(args.posenc)
        exchange(p.port, target)
        head, body = exchange(p.port, target)
        b, n = Bare(args.bare, head + body, folder), Nginx(body, folder)
        rows = []
        for _ in range(args.rounds):
            mine, p99 = wrk(p.port, target, args.seconds)
            rows.append((mine, wrk(b.port, target, args.seconds)[0], wrk(n.port, "/body.bin", args.seconds)[0], p99))
        stop(p, b, n)
        mine, bare, nginx = (statistics.median(r[i] for r in rows) for i in range(3))
        print(f"{name:<10}{mine:12.0f}{bare:12.0f}{nginx:12.0f}{cell([r[0] / r[1] for r in rows])}"
              f"{cell([r[0] / r[2] for r in rows])}{rows[-1][3]:>10}", flush=True)


def scripted(args):
    print(f"{'scenario':<14}{'posenc/s':>12}{'p99':>10}")
    for script in SCRIPTS:
        p = Posenc(args.posenc)
        rows = [wrk(p.port, "/", args.seconds, script) for _ in range(args.rounds)]
        stop(p)
        print(f"{script:<14}{statistics.median(r[0] for r in rows):12.0f}{rows[-1][1]:>10}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("posenc")
    p.add_argument("bare")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=int, default=2)
    args = p.parse_args()
    folder = tempfile.mkdtemp(prefix="posenc-bench-")
    try:
        hot(args, folder)
        scripted(args)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
