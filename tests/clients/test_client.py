#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of api/client.py: what it returns, its cache against torn and altered files, and its tries against
a proxy that breaks, cuts and alters answers.

    POSENC_BIN=FILE test_client.py
"""
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import urllib.error
import urllib.request

from kit import Daemon, Proxy

sys.dont_write_bytecode = True
FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "api", "client.py")
spec = importlib.util.spec_from_file_location("client", FILE)
client = importlib.util.module_from_spec(spec)
spec.loader.exec_module(client)
Client, PosencError = client.Client, client.PosencError

SMALL = [[0.0, 1.0]]                       # sinusoidal, length 1, width 2
TABLE = dict(length=40, width=64)          # about 10 KiB
sin1 = 0.8414709568023682                  # the float32 nearest sin 1
daemon = proxy = None


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="posenc-client-")
        self.addCleanup(shutil.rmtree, self.folder, True)
        proxy.expect()
        self.pauses = []
        real, client.time = client.time, types.SimpleNamespace(sleep=self.pauses.append, time=time.time)
        self.addCleanup(setattr, client, "time", real)

    def client(self, **options):
        return Client(proxy.url, framework="python", **options)

    def small(self, c):
        return c.table("sinusoidal", length=1, width=2)["weight"].tolist()

    def fails(self, status, call, *args, **kw):
        with self.assertRaises(PosencError) as caught:
            call(*args, **kw)
        self.assertEqual(caught.exception.status, status, str(caught.exception))
        return str(caught.exception)


class Served(Case):
    def ask(self, method, **headers):
        q = urllib.request.Request(daemon.url + "/client.py", None, headers, method=method)
        try:
            with urllib.request.urlopen(q) as r:
                return r.status, r.headers, r.read()
        except urllib.error.HTTPError as e:
            with e:
                return e.code, e.headers, e.read()

    def test_the_server_has_this_file(self):
        with open(FILE, "rb") as f:
            text = f.read()
        status, headers, body = self.ask("GET")
        self.assertEqual((status, headers.get_content_type(), body), (200, "text/x-python", text))
        status, head, body = self.ask("HEAD")
        self.assertEqual((status, head["Content-Length"], head["ETag"], body),
                         (200, str(len(text)), headers["ETag"], b""))
        self.assertEqual(self.ask("GET", **{"If-None-Match": headers["ETag"]})[::2], (304, b""))
        self.assertEqual(self.ask("GET", **{"If-None-Match": '"other"'})[0], 200)
        self.assertEqual(self.ask("POST")[0], 405)


class Values(Case):
    def test_frameworks_agree(self):
        for dtype in ("f64", "f32", "f16", "bf16"):
            seen = []
            for framework in ("python", "numpy", "torch"):
                if not importlib.util.find_spec(framework) and framework != "python":
                    print("  skip  no %s here" % framework)
                    continue
                t = Client(daemon.url, framework=framework).table("rope", length=5, width=8, dtype=dtype)
                self.assertEqual(sorted(t), ["cos", "sin"])
                self.assertEqual(tuple(t["cos"].shape), (5, 4))
                seen.append((t["cos"].tolist(), t["sin"].tolist()))
            self.assertEqual(seen, seen[:1] * len(seen), dtype)

    def test_table_takes_what_is_like_a_list(self):
        c = Client(daemon.url)
        want = c.table("sinusoidal", length=3, width=4)["weight"].tolist()
        self.assertAlmostEqual(want[1][0], sin1, 15)
        likes = [[0, 1, 2], (0, 1, 2), range(3)]
        if importlib.util.find_spec("numpy"):
            import numpy
            likes += [numpy.arange(3), list(numpy.arange(3))]
        for like in likes:
            got = c.table("sinusoidal", positions=like, width=4)["weight"].tolist()
            self.assertEqual(got, want, like)

    def test_rows_have_the_shape_of_the_positions(self):
        nested = [[0, 5], [7, 4096], [1, 2]]
        c = self.client()
        flat = c.table("rope", positions=sum(nested, []), width=8)["cos"]
        self.assertEqual(flat.shape, (6, 4))
        for call in (c.gather, lambda kind, p, **kw: c.table(kind, positions=p, **kw)):
            got = call("rope", nested, width=8)["cos"]
            self.assertEqual(got.shape, (3, 2, 4))
            self.assertEqual(sum(got.tolist(), []), flat.tolist())

    def test_many_positions_travel_as_npy(self):
        n = client.LONGEST_JSON + 2
        nested = [list(range(n // 2)), list(range(n // 2, n))]
        got = self.client().gather("sinusoidal", nested, width=2, dtype="f16")["weight"]
        self.assertEqual(proxy.seen[0]["headers"]["content-type"], "application/x-npy")
        self.assertEqual(got.shape, (2, n // 2, 2))
        want = self.client().table("sinusoidal", length=n, width=2, dtype="f16")["weight"]
        self.assertEqual(got.flat, want.flat)

    def test_ragged_positions(self):
        self.assertIn("positions", self.fails(400, self.client().gather, "rope", [[0, 1], [2]], width=8))
        long = [[0] * client.LONGEST_JSON, [1]]
        self.assertIn("positions", self.fails(400, self.client().gather, "rope", long, width=8))

    def test_npy_is_what_numpy_writes(self):
        if not importlib.util.find_spec("numpy"):
            return print("  skip  no numpy here")
        import io
        import numpy
        for nested in ([], [1], [[1, -2, 3]], [[[1], [2]], [[3], [2 ** 53]]], [[], []]):
            file = client._npy(nested)
            read = numpy.load(io.BytesIO(file))
            self.assertEqual((len(file) - read.nbytes) % 64, 0)
            self.assertEqual((read.dtype.str, read.tolist()), ("<i8", nested))
        for no in ([1, [2]], [[1], 2], [[1], [2, 3]], [1.5], ["1"], [2 ** 63]):
            self.assertIsNone(client._npy(no), no)

    def test_long_lists_go_by_post(self):
        factors = [1.0 + i / 512 for i in range(512)]
        p = dict(length=2, width=1024, rope_type="longrope", short_factor=factors, long_factor=factors,
                 original_max_position_embeddings=4096, factor=8)
        t = self.client().table("rope", **p)
        self.assertEqual(proxy.seen[0]["method"], "POST")
        self.assertEqual(t["cos"].shape, (2, 512))

    def test_layouts(self):
        c = self.client()
        packed = c.layout("packed", lengths=[2, 3])
        self.assertEqual(packed["position_ids"].tolist(), [[0, 1, 0, 1, 2]])
        self.assertEqual(packed["cu_seqlens"].tolist(), [0, 2, 5])
        self.assertEqual(packed["max_seqlen"].tolist(), 3)
        self.assertIsInstance(c.layout("check", position_ids=[0, 1, 2], lengths=[3]), dict)

    def test_resolve_and_its_table(self):
        config = {"model_type": "llama", "head_dim": 64, "rope_theta": 5e5, "num_hidden_layers": 1,
                  "max_position_embeddings": 64}
        group = self.client().resolve(config)["groups"][0]
        self.assertEqual((group["kind"], group["parameters"]["base"]), ("rope", 500000))
        self.assertEqual(self.client().table("rope", length=2, **group["parameters"])["cos"].shape[0], 2)

    def test_digest(self):
        c = self.client(cache_dir=self.folder)
        body = urllib.request.urlopen(daemon.url + "/v1/tables/sinusoidal.safetensors?length=40&width=64").read()
        want = "sha256:" + hashlib.sha256(body).hexdigest()
        self.assertEqual([c.digest("sinusoidal", **TABLE) for _ in range(2)], [want] * 2)
        c.agree([want] * 8)
        c.agree([])
        self.assertIn("rank 3 ", self.fails(None, c.agree, [want] * 3 + ["sha256:0"] + [want] * 4))

    def test_what_is_no_whole_file(self):
        whole = self.client()._table("sinusoidal", dict(length=2, width=2))
        client._head(whole)
        cut = [whole[:n] for n in range(len(whole))]
        for broken in cut + [whole + b"\0", b"[]" * 40, b"\2" + b"\0" * 7 + b"[]"]:
            self.assertRaises(ValueError, client._head, broken)

    def test_arrays_without_elements(self):
        for shape, want in (((0,), []), ((0, 3), []), ((2, 0), [[], []]), ((2, 0, 3), [[], []]),
                            ((1, 2, 0), [[[], []]])):
            self.assertEqual(client.Array((), shape, "float32").tolist(), want, shape)

    def test_problems_are_told(self):
        c = self.client()
        self.assertIn("widht", self.fails(400, c.table, "sinusoidal", length=4, widht=4))
        self.fails(404, c.table, "sinusodial", length=4, width=4)
        self.assertIn("JSON", self.fails(None, c.gather, "rope", [object()], width=8))
        self.assertEqual(self.pauses, [])

    def test_what_cannot_be_a_client(self):
        self.fails(None, Client, "127.0.0.1:8080")
        self.fails(None, Client, daemon.url, framework="jax")
        self.fails(None, self.client(token="a\nb").table, "sinusoidal", length=1, width=2)


class Cache(Case):
    def table(self, want=None, **options):
        t = self.client(cache_dir=self.folder, **options).table("sinusoidal", **TABLE)["weight"].flat
        if want is not None:
            self.assertEqual(t, want)
        return t

    def names(self):
        return sorted(os.listdir(self.folder))

    def kept(self):
        self.assertEqual(len(self.names()), 1, self.names())
        return os.path.join(self.folder, self.names()[0])

    def kept_bytes(self):
        with open(self.kept(), "rb") as f:
            return f.read()

    def test_second_call_costs_a_304(self):
        want = self.table()
        proxy.expect()
        self.table(want)
        self.assertEqual([(s["status"], s["sent"]) for s in proxy.seen], [(304, 0)])
        self.assertTrue(proxy.seen[0]["headers"]["if-none-match"].startswith('"'))

    def harm(self, change):
        """A call after `change` of the kept file returns the right values, fetched whole, and mends it."""
        if not os.listdir(self.folder):
            self.want = self.table()
            self.whole = self.kept_bytes()
        place = self.kept()
        change(place)
        proxy.expect()
        self.table(self.want)
        self.assertEqual([s["status"] for s in proxy.seen], [200])
        self.assertNotIn("if-none-match", proxy.seen[0]["headers"])
        self.assertEqual(self.kept_bytes(), self.whole)

    def test_torn_files(self):
        self.harm(lambda place: os.truncate(place, 0))
        size = len(self.whole)
        magic = len(client.CACHE_MAGIC)
        head = self.whole.index(b"\n", magic) + 1
        for n in (1, magic - 1, magic, magic + 1, head - 1, head, head + 1, size // 2, size - 33,
                  size - 32, size - 1):
            self.harm(lambda place: os.truncate(place, n))

    def test_altered_files(self):
        self.harm(lambda place: os.truncate(place, 0))
        size = len(self.whole)
        for at in list(range(0, 160, 7)) + [size // 2, size - 40, size - 32, size - 1]:
            def flip(place):
                with open(place, "r+b") as f:
                    f.seek(at)
                    f.write(bytes([self.whole[at] ^ 4]))
            self.harm(flip)

    def test_lengthened_and_foreign_files(self):
        def append(place):
            with open(place, "ab") as f:
                f.write(b"\0" * 32)

        def foreign(place):
            with open(place, "wb") as f:
                f.write(os.urandom(5000))
        self.harm(lambda place: os.truncate(place, 0))
        self.harm(append)
        self.harm(foreign)

    def test_file_of_another_request(self):
        want = self.table()
        place = self.kept()
        other = tempfile.mkdtemp(dir=self.folder)
        self.client(cache_dir=other).table("sinusoidal", length=40, width=64, dtype="f16")
        os.replace(os.path.join(other, os.listdir(other)[0]), place)
        proxy.expect()
        os.rmdir(other)
        self.table(want)
        self.assertNotIn("if-none-match", proxy.seen[0]["headers"])

    def test_cut_and_altered_bodies_are_not_kept(self):
        for how in ("cut", "cut-chunked", "cut-unsized", "page", "altered"):
            proxy.expect(how)
            self.fails(None, self.table, retries=0)
            self.assertEqual(self.names(), [], how)
        want = self.table()
        self.table(want)

    def test_without_etag_nothing_is_kept(self):
        proxy.expect("untagged")
        self.table()
        self.assertEqual(self.names(), [])

    def test_without_cache_nothing_is_written(self):
        self.small(self.client())
        self.assertEqual(self.names(), [])

    def test_unasked_304(self):
        proxy.expect("unasked-304")
        self.fails(304, self.table, retries=0)

    def test_cache_that_cannot_be_written(self):
        blocked = os.path.join(self.folder, "file")
        open(blocked, "w").close()
        self.assertEqual(self.small(self.client(cache_dir=blocked)), SMALL)
        os.unlink(blocked)
        c = self.client(cache_dir=self.folder)
        os.mkdir(c._place("/v1/tables/sinusoidal.safetensors?length=1&width=2"))
        self.assertEqual([self.small(c), self.small(c)], [SMALL] * 2)
        self.assertEqual(len(self.names()), 1)

    def test_what_killed_writers_left_is_swept(self):
        old, young = (os.path.join(self.folder, ".new-" + name) for name in ("old", "young"))
        for name in (old, young):
            open(name, "w").close()
        os.utime(old, (time.time() - 2 * client.ABANDONED,) * 2)
        self.small(self.client(cache_dir=self.folder))
        self.assertEqual((os.path.exists(old), os.path.exists(young)), (False, True))

    def test_processes_share_a_cache(self):
        flat = self.client().table("sinusoidal", **TABLE)["weight"].flat
        want = hashlib.sha256(repr(flat).encode()).hexdigest()
        code = ("import sys, hashlib; sys.dont_write_bytecode = True; sys.path.insert(0, sys.argv[1])\n"
                "from client import Client\n"
                "c = Client(sys.argv[2], cache_dir=sys.argv[3], framework='python')\n"
                "place = c._place('/v1/tables/sinusoidal.safetensors?length=40&width=64')\n"
                "for _ in range(20):\n"
                "    t = c.table('sinusoidal', length=40, width=64)\n"
                "    print(hashlib.sha256(repr(t['weight'].flat).encode()).hexdigest())\n"
                "    open(place, 'r+b').truncate(2000)\n")
        many = [subprocess.Popen([sys.executable, "-c", code, os.path.dirname(FILE), daemon.url, self.folder],
                                 stdout=subprocess.PIPE) for _ in range(4)]
        said = [p.communicate(timeout=120)[0].decode().split() for p in many]
        self.assertEqual(said, [[want] * 20] * 4)
        self.assertEqual([n for n in self.names() if n.startswith(".")], [])


class Tries(Case):
    def test_after_failures(self):
        alone = ("503", "429", "502", "504", "reset", "garbage", "cut", "cut-chunked", "cut-unsized",
                 "altered", "page")
        for plan in [[what] for what in alone] + [["reset", "503", "cut", "garbage", "429"]]:
            proxy.expect(*plan)
            self.assertEqual(self.small(self.client()), SMALL, plan)
            self.assertEqual(len(proxy.seen), len(plan) + 1, plan)

    def test_posts_too(self):
        for plan in (["503", "reset"], ["cut", "503"]):
            proxy.expect(*plan)
            self.assertEqual(self.client().gather("sinusoidal", [[0]], width=2)["weight"].tolist(), [SMALL])
            self.assertEqual(len({s["body"] for s in proxy.seen}), 1)
            self.assertEqual(len(proxy.seen), 3)
        proxy.expect("cut")
        self.assertIn("groups", self.client().resolve({"model_type": "bert", "hidden_size": 8, "num_hidden_layers": 1}))

    def test_silence(self):
        proxy.expect("silent")
        start = time.monotonic()
        self.assertEqual(self.small(self.client(timeout=0.3)), SMALL)
        self.assertLess(time.monotonic() - start, 5)

    def test_bounded(self):
        for retries, tries in ((0, 1), (2, 3), (-1, 1)):
            proxy.expect(*["503"] * 9)
            self.assertEqual(self.fails(503, self.small, self.client(retries=retries)), "told to")
            self.assertEqual(len(proxy.seen), tries)
        proxy.expect(*["reset"] * 9)
        self.fails(None, self.small, self.client(retries=1))
        self.assertEqual(len(proxy.seen), 2)

    def test_never_after_another_refusal(self):
        for status in (400, 401, 403, 404, 406, 409, 413, 500):
            proxy.expect(str(status))
            self.fails(status, self.small, self.client())
            self.assertEqual(len(proxy.seen), 1, status)
        self.assertEqual(self.pauses, [])

    def test_retry_after(self):
        proxy.expect("503 1", "429 2")
        self.assertEqual(self.small(self.client()), SMALL)
        self.assertTrue(1 < self.pauses[0] < 1.2 and 2 < self.pauses[1] < 2.4, self.pauses)
        proxy.expect("503 86400")
        self.fails(503, self.small, self.client())
        self.assertEqual(len(proxy.seen), 1)
        for odd in ("soon", "-5", "inf", "nan", "Wed, 21 Oct 2015 07:28:00 GMT", "9" * 400):
            self.pauses.clear()
            proxy.expect("503 " + odd)
            self.assertEqual(self.small(self.client()), SMALL, odd)
            self.assertLess(self.pauses[0], 0.2, odd)

    def test_pauses_grow_and_differ(self):
        proxy.expect(*["503"] * 40)
        self.fails(503, self.small, self.client(retries=39))
        mean = [client.FIRST_PAUSE * 2 ** i for i in range(39)]
        mean = [min(m, client.LONGEST_PAUSE) for m in mean]
        for pause, m in zip(self.pauses, mean):
            self.assertTrue(0.5 * m <= pause <= 1.5 * m, (pause, m))
        self.assertGreater(len({round(p / m, 6) for p, m in zip(self.pauses, mean)}), 30)

    def test_server_that_comes_back(self):
        client.time = time
        own = Proxy(daemon.port)
        port = own.server.server_address[1]
        own.close()
        again = []

        def back():
            time.sleep(0.5)
            again.append(Proxy(daemon.port, port))
        thread = threading.Thread(target=back)
        thread.start()
        self.assertEqual(self.small(Client("http://127.0.0.1:%d" % port, retries=8, framework="python")), SMALL)
        thread.join()
        again[0].close()

    def test_token_goes_to_its_server_alone(self):
        other = Proxy(daemon.port)
        self.addCleanup(other.close)
        proxy.expect("to " + other.url)
        self.assertEqual(self.small(self.client(token="secret")), SMALL)
        self.assertEqual(proxy.seen[0]["headers"].get("authorization"), "Bearer secret")
        self.assertEqual([s["headers"].get("authorization") for s in other.seen], [None])

    def test_threads_share_a_client(self):
        proxy.expect(*["503", "reset", "cut"] * 4)
        c = self.client(cache_dir=self.folder, retries=20)
        got = [None] * 8

        def one(i):
            got[i] = self.small(c)
        threads = [threading.Thread(target=one, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(got, [SMALL] * 8)


def main():
    global daemon, proxy
    for name in ("POSENC_URL", "POSENC_TOKEN", "POSENC_CACHE_DIR", "http_proxy", "HTTP_PROXY"):
        os.environ.pop(name, None)
    daemon = Daemon()
    try:
        proxy = Proxy(daemon.port)
        tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
        result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(tests)
    finally:
        code = daemon.stop()
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    if code != 0:
        failed += 1
        print("the daemon ended with %s: %s" % (code, daemon.said()[-4000:]))
    print("%d passed, %d failed" % (result.testsRun - failed + (code != 0), failed))
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
