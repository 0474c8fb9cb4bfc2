"""Runs a folder of tests as its list names them (a testlist of MPICH's own tests), and compares with stock MPICH.

    suite.py TREE STOCK WORDS FOLDER LAUNCHER...

TREE holds the built tests, and their source in TREE/source. LAUNCHER takes mpiexec's arguments; MPIEXEC is
stock's. A test passes if it exits with 0 and prints WORDS, a regular expression; if its line has a resultTest,
another status passes. A failing test runs under stock MPICH, whose verdicts are kept in the file STOCK; if it
passes there, it runs a second time. JOBS tests (1) run at a time, except file tests, which share names. Prints
the failures, with the verdict under both, and the numbers; exits with 1 if a test passes only under stock.
Skips tests whose names match SLOW_TESTS, a regular expression.
"""
import collections
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_S = 120.0


def tests_of(tree, folder):
    """The tests in a folder's lists, except those that MPICH's authors expect to fail."""
    path = os.path.join(tree, folder, "testlist")
    if not os.path.exists(path):
        path = os.path.join(tree, "source", "test", "mpi", folder, "testlist")
    for line in open(path):
        words = line.split("#")[0].split()
        if not words or any(word.startswith("xfail") for word in words):
            continue
        if os.path.isdir(os.path.join(tree, folder, words[0])):
            yield from tests_of(tree, os.path.join(folder, words[0]))
            continue
        given = [word.split("=", 1) for word in words[1:] if "=" in word]
        yield {
            "name": " ".join([os.path.join(folder, words[0])] + words[1:]),
            "program": os.path.join(tree, folder, words[0]),
            "ranks": words[1] if len(words) > 1 and words[1].isdigit() else "2",
            "fails": any(key == "resultTest" for key, _ in given),
            "options": [value for key, value in given if key == "mpiexecarg"],
            "arguments": [value for key, value in given if key == "arg"],
            "environment": dict(value.split("=", 1) for key, value in given if key == "env"),
            "limit": max([float(value) for key, value in given if key == "timeLimit"] + [LIMIT_S]),
        }


def run(launcher, test, words):
    """The verdict ("pass", "exit N", "wrong words" or "timeout"), and the output."""
    command = launcher + test["options"] + ["-n", test["ranks"], test["program"]] + test["arguments"]
    begin = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=os.path.dirname(test["program"]), stdin=subprocess.DEVNULL,
                                   env=dict(os.environ, MPIEXEC_TIMEOUT="%.0f" % test["limit"], **test["environment"]),
                                   stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = process.wait(test["limit"] + 30)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        said.seek(0)
        text = said.read().decode(errors="replace")
    if test["fails"] and status is not None:
        return "pass" if status != 0 else "exit 0", text
    if status is None or (status != 0 and time.monotonic() - begin >= test["limit"]):
        return "timeout", text
    if status != 0:
        return "exit %d" % status, text
    return "pass" if re.search(words, text) else "wrong words", text


def kept(path):
    """Verdicts from earlier runs."""
    if not os.path.exists(path):
        return {}
    return dict(line.rstrip("\n").split("\t") for line in open(path))


def outcome_of(verdict, launcher, test, words, stock, stock_path):
    if verdict == "pass":
        return "passed"
    if test["name"] not in stock:
        stock[test["name"]], _ = run([os.environ["MPIEXEC"]], test, words)
        with open(stock_path, "a") as file:
            print(test["name"], stock[test["name"]], sep="\t", file=file)
    if stock[test["name"]] != "pass":
        return "failed under stock MPICH, too"
    return "failed" if run(launcher, test, words)[0] != "pass" else "failed once of two times"


def main():
    tree, stock_path, words, folder = sys.argv[1:5]
    launcher = sys.argv[5:]
    stock = kept(stock_path)
    counts = collections.Counter()

    def outcome_and_report(test):
        if not os.path.exists(test["program"]):
            return "not built", ""
        if "SLOW_TESTS" in os.environ and re.search(os.environ["SLOW_TESTS"], test["name"]):
            return "too slow", ""
        verdict, text = run(launcher, test, words)
        outcome = outcome_of(verdict, launcher, test, words, stock, stock_path)
        report = ""
        if outcome != "passed":
            report = "%s: %s (%s; stock: %s)\n" % (test["name"], outcome, verdict, stock[test["name"]])
        if outcome == "failed":
            report += "".join("    %s\n" % line for line in text.splitlines()[-12:])
        return outcome, report

    jobs = 1 if folder == "io" else int(os.environ.get("JOBS", 1))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for outcome, report in pool.map(outcome_and_report, tests_of(tree, folder)):
            counts[outcome] += 1
            print(report, end="", flush=True)
    print("%s: %s" % (folder, ", ".join("%d %s" % (counts[what], what) for what in sorted(counts, reverse=True))))
    sys.exit(counts["failed"] > 0 or counts["passed"] == 0)


main()
