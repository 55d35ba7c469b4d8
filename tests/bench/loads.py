# SPDX-License-Identifier: MIT
"""What asks: one request by hand, wrk, and load.c for what wrk cannot do. An answer that is not the
expected one is a Failure: the speed of wrong answers is not worth knowing."""
import json
import os
import re
import signal
import socket
import subprocess
from typing import NamedTuple

from peers import Failure, start

HERE = os.path.dirname(os.path.abspath(__file__))
MICROSECONDS = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 6e7}


class Sample(NamedTuple):
    rate: float  # answers a second
    p50: float  # microseconds
    p99: float
    bytes: float = 0.0  # of bodies a second


class Connection:
    """A keep-alive connection for a request now and then."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 30)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def ask(self, target, method="GET", header=""):
        """(status, head, body) as bytes; the answer must tell its length."""
        lines = [f"{method} {target} HTTP/1.1", "Host: 127.0.0.1", *filter(None, [header]), "", ""]
        self.socket.sendall("\r\n".join(lines).encode())
        data = bytearray()
        while b"\r\n\r\n" not in data:
            self.receive(data)
        n = data.index(b"\r\n\r\n") + 4
        head, body, status = bytes(data[:n]), data[n:], int(data[9:12])
        if method != "HEAD" and status != 304:
            while len(body) < int(field(head, "content-length")):
                self.receive(body)
        return status, head, bytes(body)

    def receive(self, data):
        more = self.socket.recv(1 << 20)
        if not more:
            raise Failure("an answer was cut short")
        data += more


def field(head, name):
    found = re.search(rb"(?im)^" + name.encode() + rb": (.*?)\r$", head)
    if not found:
        raise Failure(f"an answer without {name}")
    return found[1].decode()


def once(port, target, method="GET", header=""):
    with Connection(port) as c:
        return c.ask(target, method, header)


def wrk(port, target, seconds, script=None, wrong=0.0):
    """64 connections; `wrong` is the share of answers that must be errors."""
    argv = ["wrk", "-t1", "-c64", f"-d{seconds}s", "--latency"]
    if script:
        argv += ["-s", os.path.join(HERE, script)]
    process = start([*argv, f"http://127.0.0.1:{port}{target}"], stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, text=True)
    out, _ = process.communicate()
    total = re.search(r"(\d+) requests in", out)
    if process.returncode or not total or total[1] == "0" or "Socket errors" in out:
        raise Failure(f"wrk {target}: {out}")
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    share = int(bad[1]) / int(total[1]) if bad else 0.0
    if abs(share - wrong) > 0.01 * (wrong > 0):
        raise Failure(f"wrk {script or target}: {share:.3f} of the answers are errors, not {wrong}")

    def quantile(percent):
        found = re.search(percent + r"%\s+([\d.]+)(us|ms|s|m)\s", out)
        return float(found[1]) * MICROSECONDS[found[2]]
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])
    return Sample(rate, quantile("50"), quantile("99"))


class Load:
    """load.c at work. Options are its own: connections, seconds, requests, method, status, header,
    and either target or list (a file)."""
    FLAGS = {"connections": "-c", "seconds": "-d", "requests": "-n", "method": "-m", "status": "-s",
             "header": "-H", "target": "-t", "list": "-f"}

    def __init__(self, binary, port, **options):
        argv = [binary]
        for name, value in options.items():
            argv += [self.FLAGS[name], str(value)]
        self.process = start([*argv, str(port)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True)

    def result(self):
        out, err = self.process.communicate()
        if self.process.returncode:
            raise Failure(err.strip() or f"load: {out}")
        sums = json.loads(out)
        return Sample(sums["requests"] / sums["seconds"], sums["p50_us"], sums["p99_us"],
                      sums["bytes"] / sums["seconds"])

    def stop(self):
        """What it has measured up to now."""
        self.process.send_signal(signal.SIGTERM)
        return self.result()
