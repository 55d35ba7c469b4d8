# SPDX-License-Identifier: MIT
"""What the tests of clients stand on: a daemon of their own on a free port of 127.0.0.1, which dies with
them and is ended by its pid, and a proxy before it that misbehaves when it is told to."""
import base64
import ctypes
import hashlib
import http.client
import os
import re
import signal
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import time

PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)


class Daemon:
    def __init__(self, *options):
        binary = os.environ.get("POSENC_BIN")
        if not binary:
            sys.exit("POSENC_BIN is not set")
        self.binary, self.log = binary, tempfile.TemporaryFile()
        clean = {k: v for k, v in os.environ.items() if not k.startswith("POSENC_")}
        self.process = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0", *options], stderr=self.log, env=clean,
            stdin=subprocess.DEVNULL, preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        end = time.monotonic() + 30
        ready = None
        while not ready and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.02)
            ready = re.search(r"ready.*http://127\.0\.0\.1:([0-9]+).*\n", self.said())
        if not ready:
            self.stop()
            sys.exit("no ready line; stderr: " + self.said())
        self.port = int(ready.group(1))
        self.url = "http://127.0.0.1:%d" % self.port

    def said(self):
        self.log.flush()
        return os.pread(self.log.fileno(), 1 << 20, 0).decode("utf-8", "replace")

    def stop(self):
        """The exit code after SIGTERM; None where it had to be killed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None


class Proxy:
    """Passes requests on to a daemon's port, one a connection. Each takes the first word off `plan`, if one
    is left, and does what it says instead; `seen` holds what came, with the time.

        pass            as if there were no proxy
        reset           a connection broken before the answer
        silent          no answer for ten seconds
        garbage         bytes that are no HTTP
        cut             half the body, the length of all of it
        cut-chunked     half the body in chunks, without the last one
        cut-unsized     half the body, no length
        altered         the body with one bit changed, behind the Repr-Digest of the right one
        untagged        no ETag
        page            a page of somebody else's, with an ETag
        unasked-304     304
        to URL          307 to that URL
        NNN [SECONDS]   that status, a problem document, Retry-After where given
    """

    def __init__(self, port, listen=0):
        self.target, self.plan, self.seen, self.lock = port, [], [], threading.Lock()
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    proxy._serve(self.request)
                except OSError:
                    pass

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = daemon_threads = True
            request_queue_size = 64

        self.server = Server(("127.0.0.1", listen), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def expect(self, *plan):
        with self.lock:
            self.plan, self.seen = list(plan), []

    @staticmethod
    def _request(link):
        text = b""
        while b"\r\n\r\n" not in text:
            piece = link.recv(1 << 16)
            if not piece:
                raise ConnectionError
            text += piece
        head, _, body = text.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            body += link.recv(1 << 16)
        return method, target, headers, body

    def _forward(self, method, target, headers, body):
        link = http.client.HTTPConnection("127.0.0.1", self.target, timeout=60)
        skipped = "host", "connection", "content-length", "accept-encoding"
        link.request(method, target, body or None, {k: v for k, v in headers.items() if k not in skipped})
        answer = link.getresponse()
        data = answer.read()
        link.close()
        skipped = "connection", "content-length", "transfer-encoding", "date"
        return answer.status, {k: v for k, v in answer.getheaders() if k.lower() not in skipped}, data

    def _serve(self, link):
        method, target, headers, body = self._request(link)
        with self.lock:
            what = self.plan.pop(0) if self.plan else "pass"
            seen = {"at": time.monotonic(), "method": method, "target": target, "headers": headers,
                    "body": body, "status": None, "sent": 0}
            self.seen.append(seen)
        if what == "silent":
            time.sleep(10)
        elif what == "garbage":
            link.sendall(b"\x15\x03\x01\x00\x02\x02\x46\r\n\r\n")
        elif what == "reset":
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif what[:3].isdigit():
            again = {"Retry-After": what[4:]} if what[4:] else {}
            self._answer(link, int(what[:3]), dict(again, **{"Content-Type": "application/problem+json"}),
                         b'{"status": %s, "detail": "told to"}' % what[:3].encode())
        elif what.startswith("to "):
            self._answer(link, 307, {"Location": what[3:] + target}, b"")
        elif what == "page":
            self._answer(link, 200, {"Content-Type": "text/html", "ETag": '"page"'}, b"<p>Sign in")
        elif what == "unasked-304":
            self._answer(link, 304, {}, None)
        else:
            status, fields, data = self._forward(method, target, headers, body)
            seen["status"], seen["sent"] = status, len(data)
            self._spoil(link, what, (status, fields, None if status == 304 else data))

    def _spoil(self, link, what, answer):
        status, fields, data = answer
        if what == "untagged":
            fields = {k: v for k, v in fields.items() if k.lower() != "etag"}
        if what == "altered":
            digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
            fields = dict(fields, **{"Repr-Digest": "sha-256=:%s:" % digest})
            data = data[:-1] + bytes([data[-1] ^ 1])
        half = data[:len(data) // 2] if data else b""
        if what == "cut":
            self._answer(link, status, dict(fields, **{"Content-Length": len(data)}), half)
        elif what == "cut-chunked":
            self._answer(link, status, dict(fields, **{"Transfer-Encoding": "chunked"}),
                         b"%x\r\n%s\r\n" % (len(half), half))
        elif what == "cut-unsized":
            self._answer(link, status, dict(fields, **{"Content-Length": None}), half)
        else:
            self._answer(link, status, fields, data)

    @staticmethod
    def _answer(link, status, fields, data):
        """Content-Length is that of data unless the fields say other; None for none."""
        fields = dict({"Content-Length": len(data)} if data is not None and
                      "Transfer-Encoding" not in fields else {}, **fields)
        lines = ["HTTP/1.1 %d Status" % status, "Connection: close"]
        lines += ["%s: %s" % f for f in fields.items() if f[1] is not None]
        link.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (data or b""))
