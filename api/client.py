# SPDX-License-Identifier: MIT
"""Client of a posenc server: one file, standard library only; numpy and torch where they are there.

    from client import Client
    c = Client("http://127.0.0.1:8080", cache_dir="~/.cache/posenc")
    t = c.table("rope", length=2048, width=128, dtype="bf16")   # {"cos": ..., "sin": ...}
    g = c.gather("rope", [[0, 5], [7, 4096]], width=128)        # rows in the shape of the positions
    l = c.layout("packed", lengths=[5, 3, 7])                   # {"position_ids": ..., ...}
    r = c.resolve(json.load(open("config.json")))               # which tables does a model expect?
    c.agree(digests)      # one c.digest("rope", ...) of each rank: do all hold the same bytes?

What comes is checked for being whole, and what is read back from the cache for its digest: a torn
or altered file is fetched anew, never returned. Processes may share a cache, and threads a Client.
"""
import base64
import hashlib
import http.client
import importlib
import json
import os
import random
import re
import struct
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

__all__ = ["Client", "PosencError", "Array"]

LONGEST_QUERY = 4000      # characters; longer requests go by POST
LONGEST_JSON = 100000     # positions; more of them travel as .npy
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0   # seconds between tries, doubled each time, with jitter
LONGEST_WAIT = 300.0      # seconds of Retry-After; who asks for more gets no further try
ABANDONED = 3600.0        # seconds after which an unfinished cache file has no writer any more
TRY_AGAIN = 429, 502, 503, 504
CACHE_MAGIC = b"posenc-cache-1\n"
# safetensors name: (bytes, struct code, numpy name, torch name)
DTYPES = {"F64": (8, "d", "<f8", "float64"), "F32": (4, "f", "<f4", "float32"),
          "F16": (2, "e", "<f2", "float16"), "BF16": (2, "H", "<u2", "bfloat16"),
          "I64": (8, "q", "<i8", "int64"), "I32": (4, "i", "<i4", "int32"),
          "U8": (1, "B", "|u1", "uint8"), "BOOL": (1, "?", "|b1", "bool")}


class PosencError(Exception):
    """Any failure. str() says what; .status is the HTTP status, or None where no answer came."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


class Array:
    """An array without numpy: a flat tuple and a shape."""

    def __init__(self, flat, shape, dtype):
        self.flat, self.shape, self.dtype = tuple(flat), tuple(shape), dtype

    def tolist(self):
        return _nest(self.flat, self.shape) if self.shape else self.flat[0]

    def __repr__(self):
        return "Array(%r, dtype=%s)" % (self.tolist(), self.dtype)


def _nest(flat, shape):
    if len(shape) == 1:
        return list(flat)
    step = len(flat) // shape[0] if shape[0] else 0
    return [_nest(flat[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]


def _as_python(raw, name, shape):
    size, code, _, dtype = DTYPES[name]
    flat = struct.unpack("<%d%s" % (len(raw) // size, code), raw)
    if name == "BF16":
        wide = struct.pack("<%dI" % len(flat), *(x << 16 for x in flat))
        flat, dtype = struct.unpack("<%df" % len(flat), wide), "float32"
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
    if not raw.nbytes:
        return torch.empty(tuple(shape), dtype=dtype)
    return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(tuple(shape))


FRAMEWORKS = {"python": _as_python, "numpy": _as_numpy, "torch": _as_torch}


def _framework(name):
    if name is None:
        try:
            importlib.import_module("numpy")
            return _as_numpy
        except ImportError:
            return _as_python
    if name not in FRAMEWORKS:
        raise PosencError("framework %r is not one of %s" % (name, ", ".join(FRAMEWORKS)))
    if name != "python":
        try:
            importlib.import_module(name)
        except ImportError as e:
            raise PosencError(str(e)) from None
    return FRAMEWORKS[name]


def _head(data):
    """(where the numbers begin, {name: entry}) of a safetensors file; ValueError if not whole."""
    try:
        start = 8 + int.from_bytes(data[:8], "little")
        head = json.loads(data[8:start].decode())
        head.pop("__metadata__", None)
        whole = len(data) == start + max((t["data_offsets"][1] for t in head.values()), default=0)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        whole = False
    if not whole:
        raise ValueError("the answer is not a whole safetensors file")
    return start, head


def _tensors(data, make):
    """{name: array} of a safetensors file."""
    start, head = _head(data)
    numbers = memoryview(data)[start:]
    return {name: make(numbers[slice(*t["data_offsets"])], t["dtype"], t["shape"])
            for name, t in head.items()}


def _plain(value):
    """Lists and numbers of anything array-like."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        return value
    return [v if type(v) is int else _plain(v) for v in value]


def _spell(value):
    """A value of a query: 1, 0.5, true, word or 1,2,3."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(map(_spell, value))
    return repr(value) if isinstance(value, float) else str(value)


def _query(parameters):
    return "&".join("%s=%s" % (urllib.parse.quote(k, safe=""),
                               urllib.parse.quote(_spell(v), safe=",-"))
                    for k, v in sorted(parameters.items()))


def _fits_query(parameters):
    """Lists of lists have no spelling in a query that keeps their shape."""
    deep = any(isinstance(v, list) and any(isinstance(x, list) for x in v)
               for v in parameters.values())
    return not deep and len(_query(parameters)) <= LONGEST_QUERY


def _npy(nested):
    """The .npy file of nested lists of integers, or None where they are no array of int64."""
    flat, shape = [nested], []
    while flat and isinstance(flat[0], list):
        shape.append(len(flat[0]))
        if any(not isinstance(row, list) or len(row) != shape[-1] for row in flat):
            return None
        flat = [v for row in flat for v in row]
    try:
        data = struct.pack("<%dq" % len(flat), *flat)
    except struct.error:
        return None
    head = "{'descr': '<i8', 'fortran_order': False, 'shape': %r, }" % (tuple(shape),)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def _check_digest(headers, data):
    """Raises where the body is not the one that Repr-Digest (RFC 9530) speaks of."""
    said = re.search(r"sha-256=:([A-Za-z0-9+/=]*):", headers.get("Repr-Digest") or "")
    if said and said.group(1) != base64.b64encode(hashlib.sha256(data).digest()).decode():
        raise http.client.HTTPException("the body does not have the digest of its Repr-Digest")


class Client:
    """url, token and cache_dir default to POSENC_URL, POSENC_TOKEN and POSENC_CACHE_DIR; without a
    cache_dir nothing is kept. framework: "numpy" (the default where it can be imported), "torch" or
    "python". bfloat16 is torch.bfloat16 under torch and float32 of the same values elsewhere."""

    def __init__(self, url=None, cache_dir=None, token=None, retries=5, timeout=30, framework=None):
        self.url = (url or os.environ.get("POSENC_URL") or "http://127.0.0.1:8080").rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise PosencError("the url %r begins with neither http:// nor https://" % self.url)
        self.token = token or os.environ.get("POSENC_TOKEN")
        cache = cache_dir or os.environ.get("POSENC_CACHE_DIR")
        self.cache_dir = os.path.expanduser(cache) if cache else None
        self.retries, self.timeout = max(retries, 0), timeout
        self._make = _framework(framework)
        self._swept = False

    # ---- what users call

    def table(self, kind, **parameters):
        """{tensor name: array} of a table; the parameters are those of GET /v1/tables/KIND."""
        return _tensors(self._table(kind, parameters), self._make)

    def gather(self, kind, positions, **parameters):
        """The same for a nested list of positions, whose shape leads that of the answer."""
        path = "/v1/tables/%s.safetensors" % urllib.parse.quote(kind)
        plain = {k: _plain(v) for k, v in parameters.items()}
        positions = _plain(positions)
        npy = _npy(positions) if _fits_query(plain) else None
        if npy and len(npy) > 8 * LONGEST_JSON:
            query = _query(plain)
            data = self._post(path + ("?" + query if query else ""), npy, "application/x-npy")
        else:
            data = self._post_json(path, dict(plain, positions=positions))
        return _tensors(data, self._make)

    def layout(self, name, **options):
        """{tensor name: array} of a layout of position ids; of "check" its answer, a dict."""
        path = "/v1/layouts/" + urllib.parse.quote(name)
        body = {k: _plain(v) for k, v in options.items()}
        if name == "check":
            return json.loads(self._post_json(path, body, json.loads))
        return _tensors(self._post_json(path + ".safetensors", body), self._make)

    def resolve(self, config):
        """The answer of POST /v1/resolve for a model's config.json (a dict)."""
        return json.loads(self._post_json("/v1/resolve", config, json.loads))

    def digest(self, kind, **parameters):
        """sha256:HEX of the .safetensors body of that table."""
        return "sha256:" + hashlib.sha256(self._table(kind, parameters)).hexdigest()

    def agree(self, digests):
        """Raises unless all digests (one a rank, gathered by the caller) are equal."""
        digests = list(digests)
        odd = [rank for rank, digest in enumerate(digests) if digest != digests[0]]
        if odd:
            raise PosencError(
                "ranks hold different tables: rank 0 has %s, rank %d has %s (%d of %d differ)" %
                (digests[0], odd[0], digests[odd[0]], len(odd), len(digests)))

    # ---- requests

    def _table(self, kind, parameters):
        path = "/v1/tables/%s.safetensors" % urllib.parse.quote(kind)
        plain = {k: _plain(v) for k, v in parameters.items()}
        if not _fits_query(plain):
            return self._post_json(path, plain)
        query = _query(plain)
        return self._get(path + ("?" + query if query else ""))

    def _get(self, target):
        tag, kept = self._read_cache(target)
        status, headers, data = self._send("GET", target, None,
                                           {"If-None-Match": tag} if tag else {}, _head)
        if status == 304:
            return kept
        self._write_cache(target, headers.get("ETag"), data)
        return data

    def _post_json(self, path, body, check=_head):
        try:
            body = json.dumps(body).encode()
        except (ValueError, TypeError) as e:
            raise PosencError("a parameter is not JSON: %s" % e) from None
        return self._post(path, body, "application/json", check)

    def _post(self, path, body, media, check=_head):
        return self._send("POST", path, body, {"Content-Type": media}, check)[2]

    def _send(self, method, target, body, headers, check):
        """(status, headers, body) of a 2xx or 304, tried 1 + retries times; check(body) raises a
        ValueError for one that is not whole."""
        pause = FIRST_PAUSE
        for left in range(self.retries, -1, -1):
            wait = 0.0
            try:
                return self._once(method, target, body, headers, check)
            except urllib.error.HTTPError as e:
                if e.code == 304 and "If-None-Match" in headers:
                    return 304, e.headers, b""
                error = PosencError(self._detail(e), e.code)
                after = e.headers.get("Retry-After") or ""
                wait = float(after) if re.fullmatch("[0-9]{1,9}", after) else 0.0
                left = left if e.code in TRY_AGAIN and wait <= LONGEST_WAIT else 0
            except (OSError, http.client.HTTPException) as e:
                reason = str(getattr(e, "reason", None) or e) or type(e).__name__
                error = PosencError("%s%s: %s" % (self.url, target.partition("?")[0], reason))
            if not left:
                raise error
            time.sleep(wait + pause * random.uniform(0.5, 1.5))
            pause = min(2 * pause, LONGEST_PAUSE)

    def _once(self, method, target, body, headers, check):
        try:
            q = urllib.request.Request(self.url + target, body, headers, method=method)
            if self.token:
                q.add_unredirected_header("Authorization", "Bearer " + self.token)
            r = urllib.request.urlopen(q, timeout=self.timeout)
        except ValueError as e:
            raise PosencError(str(e)) from None
        with r:
            data = r.read()
        _check_digest(r.headers, data)
        try:
            check(data)
        except ValueError as e:
            raise http.client.HTTPException(str(e)) from None
        return r.status, r.headers, data

    @staticmethod
    def _detail(e):
        """What a problem+json says."""
        try:
            with e:
                return str(json.loads(e.read().decode())["detail"])
        except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
            return "HTTP status %d" % e.code

    # ---- the cache: a file for each request: magic, a line of JSON, the body, SHA-256 of all that

    def _place(self, target):
        name = hashlib.sha256((self.url + target).encode()).hexdigest()
        return os.path.join(self.cache_dir, name)

    def _read_cache(self, target):
        """(ETag, body), or (None, None) where there is none that is whole."""
        if not self.cache_dir:
            return None, None
        try:
            with open(self._place(target), "rb") as f:
                text = f.read()
            view = memoryview(text)[:-32]
            end = text.index(b"\n", len(CACHE_MAGIC)) + 1
            if text.startswith(CACHE_MAGIC) and hashlib.sha256(view).digest() == text[-32:]:
                head = json.loads(text[len(CACHE_MAGIC):end].decode())
                if head["target"] == target:
                    return head["etag"], bytes(view[end:])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return None, None

    def _write_cache(self, target, tag, data):
        """Best effort: a cache that cannot be written is no reason to fail. Renamed into place, so
        that readers see an old file or a new one."""
        if not self.cache_dir or not tag:
            return
        head = CACHE_MAGIC + json.dumps({"target": target, "etag": tag}).encode() + b"\n"
        digest = hashlib.sha256(head)
        digest.update(data)
        name = None
        try:
            os.makedirs(self.cache_dir, exist_ok=True)
            self._sweep()
            fd, name = tempfile.mkstemp(dir=self.cache_dir, prefix=".new-")
            with os.fdopen(fd, "wb") as f:
                for part in (head, data, digest.digest()):
                    f.write(part)
            os.replace(name, self._place(target))
            name = None
        except OSError:
            pass
        finally:
            if name:
                self._discard(name)

    def _sweep(self):
        """Removes, once, what writers that were killed left behind."""
        if self._swept:
            return
        self._swept = True
        for name in os.listdir(self.cache_dir):
            if name.startswith(".new-"):
                self._discard(os.path.join(self.cache_dir, name), ABANDONED)

    @staticmethod
    def _discard(path, age=0.0):
        try:
            if time.time() - os.stat(path).st_mtime >= age:
                os.unlink(path)
        except OSError:
            pass
