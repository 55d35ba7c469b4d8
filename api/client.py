# SPDX-License-Identifier: MIT
"""Client of a posenc server: one file, standard library only; numpy and torch are used when they are there.

    from client import Client
    c = Client("http://127.0.0.1:8080", cache_dir="~/.cache/posenc")
    t = c.table("rope", length=2048, width=128, dtype="bf16")     # {"cos": ..., "sin": ...}
    g = c.gather("rope", [[0, 5], [7, 4096]], width=128)          # rows in the shape of the positions
    l = c.layout("packed", lengths=[5, 3, 7])                     # {"position_ids": ..., "cu_seqlens": ...}
    r = c.resolve(json.load(open("config.json")))                 # which table does this model expect?
    c.agree(all_gathered(c.digest("rope", length=2048, width=128)))   # do all ranks hold the same bytes?

What was fetched is checked for length, and what is read back from the cache for its digest: a torn or
altered file is fetched anew, never returned. Safe to share between processes; a Client between threads too.
"""
import hashlib
import http.client
import json
import os
import random
import struct
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

__all__ = ["Client", "PosencError", "Array"]

LONGEST_QUERY = 4000          # characters; longer requests go by POST
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0   # seconds between tries, doubled each time, with jitter
CACHE_MAGIC = b"posenc-cache-1\n"
# safetensors name: (bytes, struct code, numpy name, torch name)
DTYPES = {"F64": (8, "d", "<f8", "float64"), "F32": (4, "f", "<f4", "float32"), "F16": (2, "e", "<f2", "float16"),
          "BF16": (2, "H", "<u2", "bfloat16"), "I64": (8, "q", "<i8", "int64"), "I32": (4, "i", "<i4", "int32"),
          "U8": (1, "B", "|u1", "uint8"), "BOOL": (1, "?", "|b1", "bool")}


class PosencError(Exception):
    """Any failure. str() says what; .status is the HTTP status, or None where no answer came."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


class Array:
    """An array without numpy: a flat tuple and a shape."""

    def __init__(self, flat, shape, dtype):
        self.flat, self.shape, self.dtype = flat, tuple(shape), dtype

    def tolist(self):
        out = list(self.flat)
        if not self.shape:
            return out[0]
        for n in reversed(self.shape[1:]):
            out = [out[i:i + n] for i in range(0, len(out), n)] if n else []
        return out

    def __repr__(self):
        return "Array(%r, dtype=%s)" % (self.tolist(), self.dtype)


def _as_python(raw, name, shape):
    size, code, _, dtype = DTYPES[name]
    flat = struct.unpack("<%d%s" % (len(raw) // size, code), raw)
    if name == "BF16":
        flat = struct.unpack("<%df" % len(flat), struct.pack("<%dI" % len(flat), *(x << 16 for x in flat)))
        dtype = "float32"
    return Array(flat, shape, dtype)


def _as_numpy(raw, name, shape):
    import numpy
    a = numpy.frombuffer(bytearray(raw), DTYPES[name][2])
    if name == "BF16":
        a = (a.astype("<u4") << 16).view("<f4")
    return a.reshape(shape)


def _as_torch(raw, name, shape):
    import torch
    dtype = getattr(torch, DTYPES[name][3])
    if not raw:
        return torch.empty(tuple(shape), dtype=dtype)
    return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(tuple(shape))


FRAMEWORKS = {"python": _as_python, "numpy": _as_numpy, "torch": _as_torch}


def _tensors(data, make):
    """{name: array} of a safetensors file."""
    n = struct.unpack_from("<Q", data)[0]
    head = json.loads(data[8:8 + n])
    head.pop("__metadata__", None)
    return {name: make(data[8 + n + t["data_offsets"][0]:8 + n + t["data_offsets"][1]], t["dtype"], t["shape"])
            for name, t in head.items()}


def _spell(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_spell(v) for v in value)
    return repr(value) if isinstance(value, float) else str(value)


def _plain(value):
    """Lists of anything array-like, for JSON."""
    return value.tolist() if hasattr(value, "tolist") else value


class Client:
    def __init__(self, url=None, cache_dir=None, token=None, retries=5, timeout=30, framework=None):
        self.url = (url or os.environ.get("POSENC_URL") or "http://127.0.0.1:8080").rstrip("/")
        self.token = token or os.environ.get("POSENC_TOKEN")
        cache = cache_dir or os.environ.get("POSENC_CACHE_DIR")
        self.cache_dir = os.path.expanduser(cache) if cache else None
        self.retries, self.timeout = retries, timeout
        if framework is None:
            try:
                import numpy  # noqa: F401
                framework = "numpy"
            except ImportError:
                framework = "python"
        if framework not in FRAMEWORKS:
            raise PosencError("framework %r is not one of %s" % (framework, ", ".join(FRAMEWORKS)))
        self._make = FRAMEWORKS[framework]

    # ---- what users call

    def table(self, kind, **parameters):
        """{tensor name: array} of a table; the parameters are those of the HTTP contract."""
        return _tensors(self._table(kind, parameters), self._make)

    def gather(self, kind, positions, **parameters):
        """The same for a nested list of positions, whose shape leads that of the answer."""
        body = dict({k: _plain(v) for k, v in parameters.items()}, positions=_plain(positions))
        return _tensors(self._post("/v1/tables/%s.safetensors" % urllib.parse.quote(kind), body), self._make)

    def layout(self, name, **options):
        """{tensor name: array} of a layout of position ids."""
        body = {k: _plain(v) for k, v in options.items()}
        return _tensors(self._post("/v1/layouts/%s.safetensors" % urllib.parse.quote(name), body), self._make)

    def resolve(self, config):
        """The answer of POST /v1/resolve for a model's config.json (a dict)."""
        return json.loads(self._post("/v1/resolve", config))

    def digest(self, kind, **parameters):
        """sha256:HEX of the .safetensors body of that table."""
        return "sha256:" + hashlib.sha256(self._table(kind, parameters)).hexdigest()

    def agree(self, digests):
        """Raises unless all digests (one a rank, gathered by the caller) are equal."""
        digests = list(digests)
        odd = [(rank, d) for rank, d in enumerate(digests) if d != digests[0]]
        if odd:
            raise PosencError("ranks hold different tables: rank 0 has %s, rank %d has %s (%d of %d differ)" %
                              (digests[0], odd[0][0], odd[0][1], len(odd), len(digests)))

    # ---- requests

    def _table(self, kind, parameters):
        path = "/v1/tables/%s.safetensors" % urllib.parse.quote(kind)
        plain = {k: _plain(v) for k, v in parameters.items()}
        query = "&".join("%s=%s" % (urllib.parse.quote(k, safe=""), urllib.parse.quote(_spell(v), safe=",-"))
                         for k, v in sorted(plain.items()))
        if len(query) > LONGEST_QUERY:
            return self._post(path, plain)
        return self._get(path + "?" + query)

    def _get(self, target):
        tag, kept = self._read_cache(target)
        status, head, data = self._send("GET", target, None, {"If-None-Match": tag} if tag else {})
        if status == 304:
            return kept
        self._write_cache(target, head.get("ETag"), data)
        return data

    def _post(self, path, body):
        return self._send("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})[2]

    def _send(self, method, target, body, headers):
        """(status, headers, body) of a 2xx or 304, tried 1 + retries times."""
        if self.token:
            headers = dict(headers, Authorization="Bearer " + self.token)
        pause = FIRST_PAUSE
        for left in range(self.retries, -1, -1):
            wait = 0
            try:
                q = urllib.request.Request(self.url + target, body, headers, method=method)
                with urllib.request.urlopen(q, timeout=self.timeout) as r:
                    return r.status, r.headers, r.read()
            except urllib.error.HTTPError as e:
                if e.code == 304:
                    return 304, e.headers, b""
                error = PosencError(self._problem(e), e.code)
                if e.code not in (429, 503):
                    raise error from None
                try:
                    wait = float(e.headers.get("Retry-After") or 0)
                except ValueError:
                    wait = 0
            except (OSError, http.client.HTTPException) as e:
                reason = getattr(e, "reason", None) or e
                error = PosencError("%s%s: %s" % (self.url, target.partition("?")[0], reason or type(e).__name__))
            if not left:
                raise error
            time.sleep(max(wait, 0) + pause * random.uniform(0.5, 1.5))
            pause = min(2 * pause, LONGEST_PAUSE)

    @staticmethod
    def _problem(e):
        try:
            return json.loads(e.read())["detail"]
        except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
            return "HTTP status %d" % e.code

    # ---- the cache: one file a request, magic, a line of JSON, the body

    def _place(self, target):
        return os.path.join(self.cache_dir, hashlib.sha256((self.url + target).encode()).hexdigest())

    def _read_cache(self, target):
        if not self.cache_dir:
            return None, None
        try:
            with open(self._place(target), "rb") as f:
                if f.readline() != CACHE_MAGIC:
                    return None, None
                head, data = json.loads(f.readline()), f.read()
            if hashlib.sha256(data).hexdigest() == head["sha256"] and head["target"] == target:
                return head["etag"], data
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return None, None

    def _write_cache(self, target, tag, data):
        """Best effort: a cache that cannot be written is no reason to fail."""
        if not self.cache_dir or not tag:
            return
        head = {"target": target, "etag": tag, "sha256": hashlib.sha256(data).hexdigest()}
        name = None
        try:
            os.makedirs(self.cache_dir, exist_ok=True)
            fd, name = tempfile.mkstemp(dir=self.cache_dir, prefix=".new-")
            with os.fdopen(fd, "wb") as f:
                f.write(CACHE_MAGIC + json.dumps(head).encode() + b"\n")
                f.write(data)
            os.replace(name, self._place(target))
        except OSError:
            if name and os.path.exists(name):
                os.unlink(name)
