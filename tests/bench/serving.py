#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How fast posenc serves, beside a bare responder that sends the same bytes (what this kernel lets
one thread do) and nginx with the same body as a file. Nothing is held to a goal: these are figures
to read. Only the answers must be the right ones; exit status 1 where they are not."""
import argparse
import itertools
import os
import shutil
import signal
import sys
import tempfile

import figures
from figures import KEYS, LARGE, SMALL, WRONG
from peers import Failure
from rates import Rate, Rig, condition, run_rate
from report import Report, machine, replace

BOTH = "bare", "nginx"
MEDIUM = "/v1/tables/sinusoidal.bin?length=128&width=64"
GATHER = "/v1/tables/rope.bin?width=128&positions=1,4097,7,1001"
JSON = "/v1/tables/sinusoidal.json?length=16&width=16"
LINES_A_SECOND = 200_000  # more than are asked, so that what is cold stays cold
fresh = itertools.count()


def mixed_lines(port, seconds):
    """Of 20 requests one is cold, one wrong, one for health; six have the tag, eleven are hits."""
    tag = condition(port, SMALL)
    known = [f"400 {WRONG}", "/livez", *[f"304 {SMALL}\t{tag}"] * 6, *[MEDIUM] * 6, *[JSON] * 5]
    for _ in range(LINES_A_SECOND * seconds // 20):
        yield f"/v1/tables/sinusoidal.bin?length=64&width=64&base={10000 + next(fresh)}"
        yield from known


RATES = [
    Rate("hot-1k", "hot table, 1 KiB", SMALL, BOTH),
    Rate("hot-32k", "hot table, 32 KiB", MEDIUM, BOTH),
    Rate("hot-4m", "hot table, 4 MiB", LARGE, BOTH),
    Rate("hot-4m-load", "hot table, 4 MiB, unread", LARGE, BOTH, "load"),
    Rate("not-modified", "304 for its tag", SMALL, BOTH, "load", conditional=True),
    Rate("head", "HEAD", SMALL, BOTH, "load", method="HEAD"),
    Rate("health", "/livez", "/livez", ("bare",)),
    Rate("json", "hot JSON, 256 numbers", JSON, BOTH),
    Rate("many-keys", "256 hot tables, 16 KiB", KEYS[0], ("bare",), script="many_keys.lua"),
    Rate("gather", "4 scattered positions, computed", GATHER, ("bare",), script="gather.lua"),
    Rate("mixed", "hits, cold, errors", SMALL, script="mixed.lua", wrong=0.05),
    Rate("mixed-load", "hits, cold, errors, 304s", SMALL, tool="load", lines=mixed_lines),
]
FIGURES = ["loops", "fairness", "memory", "idle"]  # functions of figures.py


def options():
    names = [r.name for r in RATES] + FIGURES
    p = argparse.ArgumentParser(description=__doc__, epilog="scenarios: " + " ".join(names))
    p.add_argument("build", help="the build folder: posenc, tests/bench/bare, tests/bench/load")
    p.add_argument("--quick", action="store_true", help="one round, fewer requests: a first look")
    p.add_argument("--only", metavar="NAMES", help="names or their beginnings, such as hot,head")
    p.add_argument("--rounds", type=int, metavar="N", help="rounds of each comparison (5)")
    p.add_argument("--seconds", type=int, default=1, metavar="S", help="of each measurement (1)")
    p.add_argument("--markdown", action="store_true", help="the table as the README has it")
    p.add_argument("--readme", metavar="FILE", help="put that table between the marks in FILE")
    args = p.parse_args()
    for program in "posenc", "tests/bench/bare", "tests/bench/load":
        if not os.access(os.path.join(args.build, program), os.X_OK):
            p.error(f"{args.build} has no {program}")
    args.rounds = args.rounds or (1 if args.quick else 5)
    wanted = args.only.split(",") if args.only else names
    unknown = [w for w in wanted if not any(n.startswith(w) for n in names)]
    if unknown:
        p.error(f"no scenario {', '.join(unknown)}; there are {', '.join(names)}")
    args.names = [n for n in names if any(n.startswith(w) for w in wanted)]
    return args


def run_all(args, rig, report):
    """How many scenarios failed."""
    failed = 0
    rates = [r for r in RATES if r.name in args.names]
    for scenario in rates + [f for f in FIGURES if f in args.names]:
        try:
            if isinstance(scenario, Rate):
                report.add_rate(run_rate(rig, scenario))
            else:
                for figure in getattr(figures, scenario)(rig):
                    report.add_figure(figure)
        except (Failure, OSError) as e:
            failed += 1
            name = getattr(scenario, "name", scenario)
            print(f"serving.py: {name}: {e}", file=sys.stderr, flush=True)
    return failed


def main():
    args = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the folder goes
    bench = os.path.join(args.build, "tests", "bench")
    folder = tempfile.mkdtemp(prefix="posenc-bench-")
    try:
        rig = Rig(posenc=os.path.join(args.build, "posenc"), bare=os.path.join(bench, "bare"),
                  load=os.path.join(bench, "load"), folder=folder, rounds=args.rounds,
                  seconds=args.seconds, memory_round=40_000 if args.quick else 200_000)
        about = machine(rig.posenc, rig.rounds, rig.seconds)
        report = Report(silent=args.markdown)
        report.say(about)
        report.say("")
        failed = run_all(args, rig, report)
    finally:
        shutil.rmtree(folder)
    if args.markdown:
        print(report.markdown(about), end="")
    if failed:
        sys.exit(1)
    if args.readme:
        replace(args.readme, report.markdown(about))


if __name__ == "__main__":
    main()
