#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""check_load.py LOAD: whether load.c can be believed. A server of canned answers, right ones and
wrong ones, is asked by it, and it must count both kinds as what they are. Exit status 1 if not."""
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
BIG = 4 << 20
HANG_UP = None  # in an answer: the connection ends here
PAUSE = 0.02  # seconds; a number in an answer is slept

ANSWERS = {
    "/right": [OK + b"hello"],
    "/pieces": [OK[:20], 0.001, OK[20:] + b"he", 0.001, b"llo"],
    "/big": [b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % BIG + bytes(BIG)],
    "/late": [PAUSE, OK + b"hello"],
    "/closes": [OK[:-2] + b"Connection: close\r\n\r\nhello", HANG_UP],
    "/gone": [b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone"],
    "/same": [b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"],
    "/head": [OK],
    "/short": [OK + b"hel", HANG_UP],
    "/surplus": [OK + b"hello!"],
    "/unsized": [b"HTTP/1.1 200 OK\r\n\r\nhello", HANG_UP],
    "/chunked": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"],
    "/twice": [OK[:-2] + OK[17:] + b"hello"],
    "/garbage": [b"hello\r\n\r\n"],
    "/cut": [OK[:20], HANG_UP],
    "/nothing": [HANG_UP],
    "/endless-head": [b"HTTP/1.1 200 OK\r\nX: " + b"x" * 9000, HANG_UP],
    "/silent": [],
    "/endless": [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (1 << 48) + bytes(BIG)],
}

# target, options, (exit status, right answers, errors, connections, bytes); None: any
CHECKS = [
    ("/right", "-n 20 -c 2", (0, 20, 0, 2, 100)),
    ("/right", "-n 1 -c 2", (0, 1, 0, 2, 5)),
    ("/right", "-d 0.2", (0, None, 0, 1, None)),
    ("/pieces", "-n 5", (0, 5, 0, 1, 25)),
    ("/big", "-n 5 -c 2", (0, 5, 0, 2, 5 * BIG)),
    ("/closes", "-n 5", (0, 5, 0, 5, 25)),
    ("/gone", "-n 5 -s 404", (0, 5, 0, 1, 20)),
    ("/gone", "-n 5", (1, 0, 5, 1, 20)),
    ("/right", "-n 5 -s 304", (1, 0, 5, 1, 25)),
    ("/same", "-n 5 -s 304", (0, 5, 0, 1, 0)),
    ("/same", "-n 5", (1, 0, 5, 1, 0)),
    ("/head", "-n 5 -m HEAD", (0, 5, 0, 1, 0)),
    ("/right", "-n 5 -m HEAD", (1, 0, 5, 5, 0)),
    ("/head", "-n 1 -d 0.2", (1, 0, 1, 1, 0)),  # the body is missing
    ("/short", "-n 5", (1, 0, 5, 5, 15)),
    ("/surplus", "-n 5", (1, 0, 5, 5, 0)),
    ("/unsized", "-n 5", (1, 0, 5, 5, 0)),
    ("/chunked", "-n 5", (1, 0, 5, 5, 0)),
    ("/twice", "-n 5", (1, 0, 5, 5, 0)),
    ("/garbage", "-n 5", (1, 0, 5, 5, 0)),
    ("/cut", "-n 5", (1, 0, 5, 5, 0)),
    ("/nothing", "-n 5", (1, 0, 5, 5, 0)),
    ("/endless-head", "-n 5", (1, 0, 5, 5, 0)),
    ("/silent", "-d 0.2 -c 2", (1, 0, 2, 2, 0)),
    ("/endless", "-d 0.5", (0, 0, 0, 1, BIG)),
]


def converse(s):
    """Answers until the other side has gone; a request is one line and an empty one."""
    with s, s.makefile("rb") as lines:
        for line in lines:
            if not line.strip():
                continue
            fields = {f.split(b":")[0] for f in iter(lines.readline, b"\r\n")}
            target = line.split()[1].decode()
            for part in ANSWERS["/same" if b"If-None-Match" in fields else target]:
                if part is HANG_UP:
                    return
                if isinstance(part, float):
                    time.sleep(part)
                else:
                    s.sendall(part)


def guarded(s):
    try:
        converse(s)
    except OSError:  # it may hang up on what is wrong
        pass


def serve(listener):
    while True:
        s, _ = listener.accept()
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=guarded, args=(s,), daemon=True).start()


def run(argv):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30)
    return done, json.loads(done.stdout) if done.stdout else {}


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_load.py LOAD")
    load, failed = sys.argv[1], []
    listener = socket.create_server(("127.0.0.1", 0))
    port = str(listener.getsockname()[1])
    threading.Thread(target=serve, args=(listener,), daemon=True).start()

    def check(name, good, seen):
        if not good:
            failed.append(name)
            print(f"check_load: {name}: {seen}")

    for target, options, wanted in CHECKS:
        done, sums = run([load, *options.split(), "-t", target, port])
        keys = "requests", "errors", "connects", "bytes"
        seen = done.returncode, *(sums.get(k) for k in keys)
        good = all(w is None or w == s for w, s in zip(wanted, seen))
        told = bool(done.stderr) == bool(sums.get("errors"))
        check(f"{target} {options}", good and told, f"{seen}, wanted {wanted} {done.stderr}")

    _, sums = run([load, "-n", "20", "-t", "/late", port])
    good = all(PAUSE <= sums[k] / 1e6 < 10 * PAUSE for k in ("p50_us", "p99_us", "max_us"))
    check("latency", good, sums)
    check("time", sums["seconds"] >= 20 * PAUSE, sums)

    with tempfile.NamedTemporaryFile("w") as f:
        f.write("/right\n404 /gone\n304 /right\tIf-None-Match: *\n")
        f.flush()
        done, sums = run([load, "-n", "30", "-c", "3", "-f", f.name, port])
        check("a list", done.returncode == 0 and sums["requests"] == 30, (done, sums))
        done, sums = run([load, "-n", "30", "-f", f.name, "-H", "If-None-Match: *", port])
        check("a header", sums["errors"] == 20 and sums["requests"] == 10, (done, sums))

    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        done, _ = run([load, "-n", "1", "-t", "/right", str(deaf.getsockname()[1])])
        check("no server", done.returncode == 69, done)
    check("usage", run([load, "-n", "1", port])[0].returncode == 64, "")
    sys.exit(f"check_load: {len(failed)} wrong" if failed else 0)


if __name__ == "__main__":
    main()
