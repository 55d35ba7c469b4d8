# SPDX-License-Identifier: MIT
"""What is no plain number of answers a second: two loops beside one, small requests beside a large
stream, memory over a million requests, and what a connection costs that only waits."""
import functools
import resource
import statistics
import time
from typing import NamedTuple

from loads import Connection, Load, once, wrk
from peers import Bare, Failure
from rates import CONNECTIONS, alternate, condition, ratios

SMALL = "/v1/tables/sinusoidal.bin?length=4&width=64"
LARGE = "/v1/tables/sinusoidal.bin?length=16384&width=64"
ENDLESS = f"/v1/tables/sinusoidal.bin?length={2**40}&width=64"
WRONG = "/v1/tables/sinusoidal.bin?lenght=4&width=64"
KEYS = [f"/v1/tables/sinusoidal.bin?length=64&width=64&offset={64 * i}" for i in range(256)]

IDLE_CONNECTIONS = 4000
MEMORY_ROUNDS = 5


class Figure(NamedTuple):
    name: str
    what: str
    value: str
    note: str = ""


def median(values):
    return statistics.median(list(values))


def loops(rig):
    """Two loops beside one."""
    for what, target, script in (("hot table, 1 KiB", SMALL, None),
                                 ("scattered positions", SMALL, "gather.lua")):
        with rig.daemon(1) as one, rig.daemon(2) as two:
            def ask(server):
                return lambda: wrk(server.port, target, rig.seconds, script)
            for server in (one, two):
                once(server.port, target)
            results = alternate(rig.rounds, {"one": ask(one), "two": ask(two)})
        rate = {n: median(s.rate for s in of) for n, of in results.items()}
        yield Figure("loops", f"two loops beside one: {what}",
                     f"{median(ratios(results, 'two', 'one', lambda s: s.rate)):.2f}x",
                     f"{rate['two']:,.0f}/s and {rate['one']:,.0f}/s; wrk needs a core of its own")


def fairness(rig):
    """Four small clients alone, and beside one client that takes all it can get; also where another
    server feeds that one, which shows how much of it the machine does and not the daemon."""
    with rig.daemon() as p:
        once(p.port, LARGE)
        _, head, body = once(p.port, LARGE)
        with Bare(rig.bare, rig.folder, head + body) as other:
            large = {"beside 4 MiB tables, back to back": (p, LARGE),
                     "beside an endless table": (p, ENDLESS),
                     "beside 4 MiB of another server": (other, LARGE)}
            flows = {name: [] for name in large}  # bytes a second

            def small():
                return rig.run(p, target=SMALL, connections=4, seconds=rig.seconds)

            def beside(name):
                source, target = large[name]
                stream = Load(rig.load, source.port, target=target, seconds=1000)
                time.sleep(0.2)  # until it flows
                try:
                    return small()
                finally:
                    flows[name].append(stream.stop().bytes)

            results = alternate(rig.rounds, {
                "alone": small, **{name: functools.partial(beside, name) for name in large}})
    for name, samples in results.items():
        note = ""
        if name in flows:
            times = median(ratios(results, name, "alone", lambda s: s.p99))
            flow = median(flows[name]) / 2**20
            note = f"p99 {times:.1f}x; the large client gets {flow:,.0f} MiB/s"
        p50, p99 = median(s.p50 for s in samples), median(s.p99 for s in samples)
        yield Figure("fairness", f"small requests {name}", f"p50 {p50:.0f} us, p99 {p99:.0f} us",
                     note)


def memory(rig):
    """Resident memory over equal rounds of hits, many keys, 304s and errors."""
    requests = rig.memory_round
    with rig.daemon() as p:
        levels = [p.resident()]
        keys = f"{rig.folder}/keys"
        with open(keys, "w") as f:
            f.writelines(k + "\n" for k in KEYS)
        each = {"connections": CONNECTIONS, "requests": requests // 4}
        for _ in range(MEMORY_ROUNDS):
            rig.run(p, target=SMALL, **each)
            rig.run(p, list=keys, **each)
            rig.run(p, target=SMALL, header=condition(p.port, SMALL), status=304, **each)
            rig.run(p, target=WRONG, status=400, **each)
            levels.append(p.resident())
    growth = ", ".join(f"{b - a:+d}" for a, b in zip(levels[1:], levels[2:]))
    for what, level, note in (
            ("idle, nothing asked yet", levels[0], ""),
            (f"after {requests:,} requests", levels[1], "256 tables of 16 KiB among them"),
            (f"after {MEMORY_ROUNDS * requests:,} requests", levels[-1],
             f"growth from round to round: {growth} KiB")):
        yield Figure("memory", f"memory {what}", f"{level / 1024:.1f} MiB", note)


def idle(rig):
    """Connections that have asked once and wait."""
    files = IDLE_CONNECTIONS + 100
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < files:
        raise Failure(f"{files} open files are needed, {hard} are allowed")
    if soft != resource.RLIM_INFINITY and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    with rig.daemon() as p:
        once(p.port, SMALL)
        before = p.resident()
        waiting = [Connection(p.port) for _ in range(IDLE_CONNECTIONS)]
        answered = sum(c.ask(SMALL)[0] == 200 for c in waiting)
        after = p.resident()
        again = sum(c.ask(SMALL)[0] == 200 for c in waiting)
        for c in waiting:
            c.socket.close()
    if answered + again != 2 * IDLE_CONNECTIONS:
        raise Failure(f"{answered}, then {again} of {IDLE_CONNECTIONS} connections were answered")
    yield Figure("idle", f"{IDLE_CONNECTIONS} connections that wait",
                 f"{(after - before) / IDLE_CONNECTIONS:.1f} KiB each",
                 "and all are answered again")
