"""Runs programs under the library, and the commands that read their logs, for tests in Python; sh.sh
does the same for scripts. JSON is read only if it has the form of docs/schema.

The working directory is a fresh one, which is removed at exit.
"""
import atexit
import copy
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build")).resolve()
STAGGER = BUILD / "stagger"
LIBRARY = str(BUILD / "libstagger.so")
# A program that takes longer hangs, however busy the machine.
PROGRAM_SECONDS = int(os.environ.get("PROGRAM_SECONDS", "600"))
# A busy machine adds lines on slices and signals; some runs have notes on rules.
NO_COMPLAINT = r"stagger: (bcs\.slice=|signal \d+ was not handled within a second|ru|bc)"

for variable in list(os.environ):
    if variable.startswith("STAGGER_") or variable in ("LD_PRELOAD", "MAKEFLAGS"):
        del os.environ[variable]
os.environ |= {"LC_ALL": "C", "STAGGER_SETUP_AFTER": "1"}
WORK = pathlib.Path(tempfile.mkdtemp(prefix="stagger-test-"))
atexit.register(shutil.rmtree, WORK, ignore_errors=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
os.chdir(WORK)


def run(*command, check=True, **variables):
    """Runs a command that succeeds, unless check is False."""
    done = subprocess.run([str(word) for word in command], env=os.environ | variables, check=False,
                          capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    assert done.returncode == 0 or not check, done.stdout + done.stderr
    return done


def has(text, *regexes):
    """Each regex matches in some line of the text."""
    missing = [regex for regex in regexes if not re.search(regex, text, re.MULTILINE)]
    return not missing or pytest.fail(f"no line matches {missing} in:\n{text}")


def lacks(text, *regexes):
    """No regex matches in a line of the text."""
    found = [regex for regex in regexes if re.search(regex, text, re.MULTILINE)]
    return not found or pytest.fail(f"a line matches {found} in:\n{text}")


# ---- programs ---------------------------------------------------------------------------------

MPIEXEC = run(ROOT / ".ci/find-mpi", "exec", check=False).stdout.strip() or "mpiexec.mpich"


class Run:
    """A program's run under the library: its exit status, its output and the directory of its logs."""

    def __init__(self, ranks, program, *words, preload=LIBRARY, **variables):
        self.trace = pathlib.Path(tempfile.mkdtemp(prefix="trace-", dir=WORK))
        self.archive = self.trace / "traces.otf2"
        done = run("timeout", "--kill-after=5", PROGRAM_SECONDS, MPIEXEC, "-genv", "LD_PRELOAD", preload, "-n", ranks,
                   BUILD / "mpi" / program, *words, check=False, STAGGER_DIR=str(self.trace), **variables)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    def ran_well(self):
        """The program succeeded, and the library printed no line but its first and last."""
        lines = re.findall("^stagger: .*", self.err, re.MULTILINE)
        complaints = [line for line in lines if not re.match(NO_COMPLAINT, line)]
        return self.status == 0 and len(complaints) == 2 and not re.search("assert|BAD TERM", self.err) or \
            pytest.fail(f"status {self.status}\n{self.err}")

    def is_sound(self):
        return is_sound(self.archive)

    @functools.cached_property
    def report(self):
        return report(self.trace)


def is_sound(archive, *options):
    """otf2-print reads the archive, and the invariants hold."""
    return run("otf2-print", "--silent", archive) and run(
        sys.executable, ROOT / "tests/lib/check_archive.py", *options, archive)


ran = functools.cache(Run)  # for runs that several tests look at


def writer(name):
    """Compiles tests/NAME.c, which writes archives and logs; returns a function that runs it."""
    program = WORK / pathlib.Path(name).name
    run("gcc", "-std=gnu11", "-D_GNU_SOURCE", f"-I{ROOT}/shim", f"-I{ROOT}/tests",
        ROOT / f"tests/{name}.c", "-o", program, "-lotf2")
    return functools.partial(run, program)


# ---- commands ---------------------------------------------------------------------------------


def stagger(*words):
    """The output of a command that succeeds and complains about nothing."""
    done = run(STAGGER, *words)
    assert done.stderr == ""
    return done.stdout


def refuses(status, regex, *words):
    """The command prints nothing but one line that matches, and ends with this status."""
    done = run(STAGGER, *words, check=False)
    return (done.returncode, done.stdout, done.stderr.count("stagger: ")) == (status, "", 1) and has(done.stderr, regex)


@functools.cache
def validator(command):
    """Checks the JSON of a command. The definitions of types.json are added to the schema's own."""
    types, schema = (json.loads((ROOT / f"docs/schema/{name}.json").read_text().replace("types.json#", "#"))
                     for name in ("types", command))
    schema["$defs"] = types["$defs"] | schema.get("$defs", {})
    return jsonschema.Draft202012Validator(schema)


def checked(command, text):
    """The value of the JSON that a command printed."""
    value = json.loads(text)
    wrong = max(validator(command).iter_errors(value), key=lambda error: len(error.path), default=None)
    return value if wrong is None else pytest.fail(f"{command}: {wrong.json_path}: {wrong.message[-300:]}")


def report(*words):
    return checked("report", run(STAGGER, "report", "--json", *words).stdout)


def accepted_faults(command, value):
    """The faults in a value that its schema accepts: another field, a field less, a value of another type. Looks at
    the first element of each list."""
    faults = []

    def note(fault):
        if validator(command).is_valid(value):
            faults.append(fault)

    def look(part):
        for name in list(part):
            kept = part.pop(name)
            note(f"no {name}")
            part[name] = {"another": 0}
            note(f"{name} of another type")
            part[name] = kept[:1] if isinstance(kept, list) else kept
        part["another"] = 0
        note("another field")
        del part["another"]
        for inner in [value for name, value in part.items() if name != "spent_ns"]:
            inner = inner[0] if isinstance(inner, list) and inner else inner
            if isinstance(inner, dict):
                look(inner)

    value = copy.deepcopy(value)
    look(value)
    return faults
