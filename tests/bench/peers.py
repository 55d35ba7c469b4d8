# SPDX-License-Identifier: MIT
"""The servers that are measured: posenc, the bare responder and nginx. Each listens on a free port
of 127.0.0.1 and is a context that ends it by its process id; it dies with this program at the
latest."""
import ctypes
import os
import re
import signal
import socket
import subprocess
import time

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
START_SECONDS = 10


class Failure(Exception):
    """A server or a load generator did not do its part; the text says which and how."""


def start(argv, parting=signal.SIGKILL, **more):
    """A process that gets the signal `parting` when this program ends, however it ends."""
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                            preexec_fn=lambda: LIBC.prctl(PR_SET_PDEATHSIG, parting), **more)


def waited(what, question):
    """What question() answers once it answers anything."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.01)
    raise Failure(f"{what} does not start")


class Server:
    process = port = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def resident(self):
        """KiB of memory that the process holds now."""
        with open(f"/proc/{self.process.pid}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+) kB", f.read())[1])


class Posenc(Server):
    def __init__(self, binary, folder, threads=1):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("POSENC_")}
        log = os.path.join(folder, "posenc.log")
        with open(log, "w") as f:
            self.process = start([binary, "serve", "--listen", "127.0.0.1:0", "--log-level", "warn",
                                  "--log-format", "text", "--threads", str(threads)],
                                 stderr=f, env=clean)

        def ready():
            if self.process.poll() is not None:
                raise Failure(f"posenc ended with {self.process.returncode}")
            with open(log) as f:
                return re.search(r"ready.*http://127\.0\.0\.1:(\d+)\s", f.read())
        self.port = int(waited("posenc", ready)[1])


class Bare(Server):
    """Answers everything with the same bytes."""

    def __init__(self, binary, folder, answer):
        path = os.path.join(folder, "answer")
        with open(path, "wb") as f:
            f.write(answer)
        self.process = start([binary, path], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise Failure("bare does not start")
        self.port = int(line)


CONF = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log; {user}
events {{ worker_connections 1024; }}
http {{
    access_log off; default_type application/octet-stream;
    sendfile on; tcp_nopush on; open_file_cache max=10; keepalive_requests 1000000000;
    client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
    uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
    server {{ listen 127.0.0.1:{port}; root {folder}/files; }}
}}
"""


class Nginx(Server):
    """One worker that serves a body as the static file of TARGET, in a folder of its own."""
    TARGET = "/body.bin"

    def __init__(self, folder, body):
        folder = os.path.join(folder, "nginx")
        os.makedirs(os.path.join(folder, "files"), exist_ok=True)
        with open(folder + "/files" + self.TARGET, "wb") as f:
            f.write(body)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        conf = os.path.join(folder, "nginx.conf")
        with open(conf, "w") as f:
            user = "user root;" if os.geteuid() == 0 else ""
            f.write(CONF.format(folder=folder, port=self.port, user=user))
        # Its worker would outlive a master that is killed; one that is told to end ends it too.
        self.process = start(["nginx", "-p", folder, "-e", folder + "/error.log", "-c", conf],
                             signal.SIGTERM, stderr=subprocess.DEVNULL)

        def accepts():
            if self.process.poll() is not None:
                raise Failure(f"nginx ended with {self.process.returncode}")
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", self.port)) == 0
        waited("nginx", accepts)
