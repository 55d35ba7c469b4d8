# SPDX-License-Identifier: MIT
"""Answers a second: posenc and its peers, measured in turn within each round, so that whatever else
the machine does meets all of them. A ratio is taken inside a round; medians are reported."""
import contextlib
import os
import statistics
from typing import Callable, NamedTuple, Optional

from loads import Load, field, once, wrk
from peers import Bare, Failure, Nginx, Posenc

CONNECTIONS = 64


class Rig(NamedTuple):
    posenc: str  # programs
    bare: str
    load: str
    folder: str  # ours, for files
    rounds: int
    seconds: int
    memory_round: int  # requests

    def daemon(self, threads=1):
        return Posenc(self.posenc, self.folder, threads)

    def run(self, server, **options):
        return Load(self.load, server.port, **options).result()


class Rate(NamedTuple):
    """A row of the table. `target` is what bare and nginx are prepared with, and what is asked
    unless a script of wrk does or `lines`, which makes a list for load.c in each round."""
    name: str
    asks: str
    target: str
    peers: tuple = ()
    tool: str = "wrk"
    script: Optional[str] = None
    wrong: float = 0.0  # the share of answers that are errors
    method: str = "GET"
    conditional: bool = False  # with the tag that the server gives
    lines: Optional[Callable] = None


class RateResult(NamedTuple):
    rate: Rate
    medians: dict  # of each server: answers a second
    ratios: dict  # posenc to each peer
    p99: float  # of posenc, microseconds


def alternate(rounds, players):
    """Calls each player once a round, beginning with another one each time: {name: [results]}."""
    names, results = list(players), {name: [] for name in players}
    for r in range(rounds):
        turn = r % len(names)
        for name in names[turn:] + names[:turn]:
            results[name].append(players[name]())
    return results


def ratios(results, above, below, key):
    return [key(a) / key(b) for a, b in zip(results[above], results[below])]


def expected(rate):
    return 304 if rate.conditional else 200


def condition(port, target):
    return f"If-None-Match: {field(once(port, target)[1], 'etag')}"


def sample(rig, rate, server, target):
    """A function that measures one server once."""
    if rate.tool == "wrk":
        return lambda: wrk(server.port, target, rig.seconds, rate.script, rate.wrong)
    options = {"connections": CONNECTIONS, "seconds": rig.seconds}
    if rate.lines:
        path = os.path.join(rig.folder, "list")

        def with_list():
            with open(path, "w") as f:
                f.writelines(line + "\n" for line in rate.lines(server.port, rig.seconds))
            return rig.run(server, list=path, **options)
        return with_list
    if rate.conditional:
        options["header"] = condition(server.port, target)
    options |= {"target": target, "method": rate.method, "status": expected(rate)}
    return lambda: rig.run(server, **options)


def run_rate(rig, rate):
    with contextlib.ExitStack() as stack:
        p = stack.enter_context(rig.daemon())
        once(p.port, rate.target)  # the answers to come are those of a cache that is warm
        body = once(p.port, rate.target)[2]
        header = condition(p.port, rate.target) if rate.conditional else ""
        status, head, rest = once(p.port, rate.target, rate.method, header)
        if status != expected(rate):
            raise Failure(f"{rate.target}: {status}")
        players = {"posenc": sample(rig, rate, p, rate.target)}
        if "bare" in rate.peers:
            b = stack.enter_context(Bare(rig.bare, rig.folder, head + rest))
            players["bare"] = sample(rig, rate, b, rate.target)
        if "nginx" in rate.peers:
            n = stack.enter_context(Nginx(rig.folder, body))
            players["nginx"] = sample(rig, rate, n, Nginx.TARGET)
        results = alternate(rig.rounds, players)
    median = statistics.median
    return RateResult(
        rate, {name: median(s.rate for s in samples) for name, samples in results.items()},
        {name: median(ratios(results, "posenc", name, lambda s: s.rate)) for name in rate.peers},
        median(s.p99 for s in results["posenc"]))
