"""The workflow of docs/ci.md that measures a program: its steps run as they stand there."""
import os
import re
import shutil
import subprocess
import textwrap

import pytest

from lib.runs import BUILD, ROOT

PAGE = (ROOT / "docs" / "ci.md").read_text()
WORKFLOW = PAGE[PAGE.index("    name: performance"):PAGE.index("\n[stagger-compare(1)]")]


def step(part):
    """The commands of the workflow's step that have this part in them."""
    blocks = re.findall(r"run: \|\n((?: {14}.*\n)+)|run: (.*)\n", WORKFLOW)
    return next(textwrap.dedent(block or line) for block, line in blocks if part in block + line)


@pytest.fixture(name="runner")
def make_runner(tmp_path):
    """Runs a step in a checkout, on a machine with this build installed and cg as the program."""
    tools = tmp_path / "bin"
    home = tmp_path / "home" / ".local" / "bin"
    checkout = tmp_path / "checkout"
    for directory in (tools, home, checkout):
        directory.mkdir(parents=True)
    (home / "stagger").symlink_to(BUILD / "stagger")
    mpiexec = subprocess.run([ROOT / ".ci" / "find-mpi", "exec"], check=True, capture_output=True, text=True)
    (tools / "mpiexec").write_text(f'#!/bin/sh\nexec {shutil.which(mpiexec.stdout.strip())} "$@"\n')
    (tools / "mpiexec").chmod(0o755)
    (checkout / "my_program").symlink_to(BUILD / "mpi" / "cg")
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(tmp_path / "home"),
                   "STAGGER_TRACE": "stats", "GITHUB_SHA": "0123456789abcdef"}

    def run(name):
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)],
                              cwd=checkout, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    run.checkout = checkout
    return run


def push(runner):
    """One job on the main branch. Returns the output of its comparison."""
    status, output = runner("stagger\" run")
    assert status == 0, output
    status, output = runner("--fail-above")
    assert status in (0, 1), output
    for name in ("--history", "cp -a new"):
        kept, words = runner(name)
        assert kept == 0, words
    shutil.rmtree(runner.checkout / "new")
    return output


def test_steps(runner):
    """the steps of the page run, compare with the baseline, and leave what the page uploads"""
    assert push(runner) == ""
    output = push(runner)
    assert re.search(r"compare: (pass|fail): run time in B ", output), output
    uploads = re.search(r"path: \|\n((?: +performance/.*\n)+)", WORKFLOW).group(1).split()
    assert len(uploads) == 2
    for path in uploads:
        assert (runner.checkout / path).stat().st_size > 0
    assert len(list((runner.checkout / "performance" / "history").glob("*.run.json"))) == 10
    assert ">0123456<" in (runner.checkout / "performance" / "history" / "index.html").read_text()


def test_install():
    """both recipes of the page install stagger and its packages in the same way"""
    for part in ("apt-get", "make -C stagger install"):
        assert PAGE.count(f"- run: {step(part)}\n") == 2
