#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs what the README shows, as it stands there, against a daemon of its own, and compares the answers.

    POSENC_BIN=FILE snippets.py README.md

Fenced blocks, top to bottom, in one folder: `sh` holds commands behind `$ ` and their answers below them
(without any `$ `, a command a line), `python` and `js` print what the comments behind their prints show,
`c` is a file of this folder. `...` in an answer stands for any text. What is left out is said: commands of
make, which runs this; a block behind `<!-- not run: REASON -->`; one whose interpreter is not there.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

from kit import Daemon

HERE = os.path.dirname(os.path.abspath(__file__))
SHOWN = "127.0.0.1:8080", "127.0.0.1 8080"
TIMEOUT = 300


def blocks(text):
    """(line number, language, text, reason not to run or None) of each fenced block."""
    found = re.finditer(r"^(?:<!-- not run: (.*) -->\n)?```([a-z]+)\n(.*?)^```$", text, re.M | re.S)
    for m in found:
        yield text.count("\n", 0, m.start(2)) + 1, m.group(2), m.group(3), m.group(1)


def commands(text):
    """[(command, answer or None)]"""
    if not re.search(r"^\$ ", text, re.M):
        return [(re.sub(r"\s+#.*", "", line), None) for line in text.splitlines() if line.strip()]
    return [split(part) for part in re.split(r"^\$ ", text, flags=re.M)[1:]]


def split(part):
    """A command goes on behind a backslash at the end of its line."""
    lines = part.splitlines()
    n = 1
    while lines[n - 1].endswith("\\") and n < len(lines):
        n += 1
    return "\n".join(lines[:n]), "\n".join(lines[n:])


def shown_by_comments(text, mark):
    """The answers behind the prints of a program; None where it shows none."""
    found = re.findall(r"^(?:print|console\.log)\(.*\);?\s+%s (.*)$" % re.escape(mark), text, re.M)
    return "\n".join(found) if found else None


def equal(shown, got):
    pattern = ".*".join(re.escape(piece) for piece in shown.rstrip().split("..."))
    return re.fullmatch(pattern, got.rstrip(), re.S) is not None


class Snippets:
    def __init__(self, folder, daemon):
        self.folder, self.daemon = folder, daemon
        self.passed = self.failed = 0
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("POSENC", "PYTHON"))}
        self.env.update(HOME=folder, PYTHONDONTWRITEBYTECODE="1",
                        PATH=folder + os.pathsep + os.environ.get("PATH", "/usr/bin:/bin"))
        os.symlink(os.path.abspath(daemon.binary), os.path.join(folder, "posenc"))
        shutil.copy(os.path.join(HERE, "config.json"), folder)

    def ours(self, text):
        for shown, ours in zip(SHOWN, ("127.0.0.1:%d", "127.0.0.1 %d")):
            text = text.replace(shown, ours % self.daemon.port)
        return text

    def report(self, name, good, *what):
        self.passed += good
        self.failed += not good
        print("  %s %s" % ("ok   " if good else "FAIL ", name))
        for label, text in what if not good else ():
            print("        %s: %s" % (label, text))

    def skip(self, name, reason):
        print("  skip  %s: %s" % (name, reason))

    def run(self, name, argv, shown):
        """One program: exit 0, and its standard output as shown."""
        try:
            p = subprocess.run(argv, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                               capture_output=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return self.report(name, False, ("took", "more than %d s" % TIMEOUT))
        got = p.stdout.decode("utf-8", "replace")
        good = p.returncode == 0 and (shown is None or equal(self.ours(shown), got))
        self.report(name, good, ("exit", p.returncode), ("shown", shown), ("got", got.rstrip()),
                    ("stderr", p.stderr.decode("utf-8", "replace")[-2000:]))

    def sh(self, where, text):
        for command, shown in commands(text):
            name = "%s $ %s" % (where, command.splitlines()[0][:70])
            tool = command.split()[0]
            if tool == "make":
                self.skip(name, "make is what runs this")
            elif not shutil.which(tool, path=self.env["PATH"]):
                self.skip(name, "no %s here" % tool)
            else:
                self.run(name, ["/bin/sh", "-c", self.ours(command)], shown)

    def python(self, where, text):
        name = "%s python: %s" % (where, text.splitlines()[0][:60])
        wanted = set(re.findall(r"\b(numpy|torch)\b", "\n".join(re.findall("^import .*", text, re.M))))
        missing = [m for m in sorted(wanted) if not importlib.util.find_spec(m)]
        if missing:
            return self.skip(name, "no python3-%s here" % missing[0])
        self.run(name, [sys.executable, "-c", self.ours(text)], shown_by_comments(text, "#"))

    def js(self, where, text):
        name = "%s js: %s" % (where, text.splitlines()[0][:60])
        node = shutil.which("node") or shutil.which("nodejs")
        if not node:
            return self.skip(name, "no nodejs here")
        with open(os.path.join(self.folder, "snippet.mjs"), "w") as f:
            f.write(self.ours(text))
        self.run(name, [node, "snippet.mjs"], shown_by_comments(text, "//"))

    def c(self, where, text):
        """The same lines as the file has below its opening comment; it compiles without a warning."""
        for file in sorted(f for f in os.listdir(HERE) if f.endswith(".c")):
            with open(os.path.join(HERE, file)) as f:
                if f.read().partition(" */\n")[2] == text:
                    with open(os.path.join(self.folder, file), "w") as copy:
                        copy.write(text)
                    return self.run("%s c: %s" % (where, file), [
                        "cc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", file], None)
        return self.report("%s c" % where, False, ("shown", "lines that no file of tests/clients has"))

    def all(self, text):
        missing = {"sh", "python", "js", "c"} - {language for _, language, _, _ in blocks(text)}
        self.report("sh, python, js and c are shown", not missing, ("missing", sorted(missing)))
        for number, language, block, reason in blocks(text):
            where = "README:%d" % number
            if reason:
                self.skip(where, reason)
            elif language in ("sh", "python", "js", "c"):
                getattr(self, language)(where, block)


def main():
    with open(sys.argv[1]) as f:
        text = f.read()
    daemon = Daemon()
    with tempfile.TemporaryDirectory(prefix="posenc-snippets-") as folder:
        try:
            snippets = Snippets(folder, daemon)
            snippets.all(text)
        finally:
            code = daemon.stop()
    snippets.report("the daemon ends well", code == 0, ("exit", code), ("stderr", daemon.said()[-4000:]))
    print("%d passed, %d failed" % (snippets.passed, snippets.failed))
    return 1 if snippets.failed else 0


if __name__ == "__main__":
    sys.exit(main())
