# SPDX-License-Identifier: MIT
"""The table: as text while it is made, as Markdown at the end, and in its place in the README."""
import json
import os
import platform
import re
import subprocess

BEGIN, END = "<!-- serving: begin -->", "<!-- serving: end -->"
PEERS = "bare", "nginx"


def columns(result):
    """posenc, bare, nginx; posenc beside bare, beside nginx; p99."""
    rates = [result.medians.get(n) for n in ("posenc", *PEERS)]
    beside = [result.ratios.get(n) for n in PEERS]
    p99 = result.p99
    return [*(f"{r:,.0f}" if r else "" for r in rates), *(f"{r:.2f}x" if r else "" for r in beside),
            f"{p99:,.0f} us" if p99 < 10000 else f"{p99 / 1000:,.0f} ms"]


class Report:
    def __init__(self, silent):
        self.silent, self.rates, self.figures = silent, [], []

    def say(self, line):
        if not self.silent:
            print(line.rstrip(), flush=True)

    def add_rate(self, result):
        if not self.rates:
            self.say(f"{'answers a second':<34}{'':<6}{'posenc':>9}{'bare':>9}{'nginx':>9}"
                     f"{'of bare':>9}{'of nginx':>10}{'p99':>11}")
        self.rates.append(result)
        mine, bare, nginx, of_bare, of_nginx, p99 = columns(result)
        self.say(f"{result.rate.asks:<34}{result.rate.tool:<6}{mine:>9}{bare:>9}{nginx:>9}"
                 f"{of_bare:>9}{of_nginx:>10}{p99:>11}")

    def add_figure(self, figure):
        if not self.figures:
            self.say("")
        self.figures.append(figure)
        self.say(f"{figure.what:<50}{figure.value:<28}{figure.note}")

    def markdown(self, about):
        lines = [about, ""]
        if self.rates:
            lines += ["| answers a second | | posenc | bare | nginx | of bare | of nginx | p99 |",
                      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
            lines += [f"| {r.rate.asks} | {r.rate.tool} | {' | '.join(columns(r))} |"
                      for r in self.rates]
        if self.figures:
            lines += ["", "| beside that | | |", "| --- | --- | --- |"]
            lines += [f"| {f.what} | {f.value} | {f.note} |" for f in self.figures]
        return "\n".join(lines) + "\n"


def said(*argv):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


def processor():
    with open("/proc/cpuinfo") as f:
        named = re.search(r"^model name\s*: (.+)$", f.read(), re.M)
    return named[1].strip() if named else platform.machine()


def system():
    try:
        with open("/etc/debian_version") as f:
            return "Debian " + f.read().strip()
    except OSError:
        return platform.freedesktop_os_release()["PRETTY_NAME"]


def machine(posenc, rounds, seconds):
    """Where the figures come from."""
    mine = json.loads(said(posenc, "version", "--json"))
    nginx, wrk = (re.search(r"\d+\.\d+(\.\d+)?", said(*argv))[0]
                  for argv in (("nginx", "-v"), ("wrk", "-v")))
    kernel = re.match(r"[\d.]*\d", platform.release())[0]
    how = "One round" if rounds == 1 else f"Medians of {rounds} rounds"
    return (f"{processor()}, {len(os.sched_getaffinity(0))} cores; Linux {kernel}, {system()}; "
            f"posenc {mine['version']} ({mine['instruction_set']}), "
            f"libmicrohttpd {mine['libraries']['libmicrohttpd']}, nginx {nginx}, wrk {wrk}. "
            f"{how}, {seconds} s for each figure.")


def replace(path, text):
    """Puts the text between the marks of a file."""
    with open(path) as f:
        old = f.read()
    head, begin, rest = old.partition(BEGIN + "\n")
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{path} has no lines {BEGIN} and {END}")
    with open(path, "w") as f:
        f.write(head + begin + text + "\n" + end + tail)
