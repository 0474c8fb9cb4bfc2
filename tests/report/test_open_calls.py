"""The open calls of hung jobs, alive and killed: stagger report, watch and run tell each rank's call, who is
missing, and the cycle of waits.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from lib.runs import BUILD, LIBRARY, MPIEXEC, PROGRAM_SECONDS, ROOT, STAGGER, WORK, checked, has, lacks, report, run

RANKS = 4
OTHERS = [0, 2, 3]
SOURCE = (ROOT / "tests/mpi/hangs.c").read_text().splitlines()
LINES = {f"MPI_{name}": number for number, line in enumerate(SOURCE, 1)
         for name in ("Allreduce", "Recv", "Send", "Iprobe") if f"MPI_{name}(" in line}
PLACES = {"MPI_Allreduce": "reduce_all", "MPI_Recv": "receive_from", "MPI_Send": "send_to", "MPI_Iprobe": "poll_for"}


def until(look):
    """Polls until look returns something, because the time is unknown."""
    end = time.monotonic() + PROGRAM_SECONDS
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.1)  # the processor is others' meanwhile
    return pytest.fail("the job never hung")


class Job:
    """A run of `hangs`, until it is told to end."""

    def __init__(self, how, *before, trace="stats", **variables):
        self.trace = pathlib.Path(tempfile.mkdtemp(dir=WORK)) / "run"
        self.err = self.trace.with_suffix(".err")
        preload = [] if before else ["-genv", "LD_PRELOAD", LIBRARY]
        with self.err.open("w") as err:
            self.process = subprocess.Popen(
                [*before, MPIEXEC, *preload, "-n", str(RANKS), BUILD / "mpi/hangs", how], stderr=err,
                env=os.environ | {"STAGGER_DIR": str(self.trace), "STAGGER_TRACE": trace} | variables,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)

    def look(self):
        """The open calls; None: no log can be read yet."""
        done = run(STAGGER, "report", "--json", self.trace, check=False)
        return checked("report", done.stdout)["open_calls"] if done.returncode == 0 else None

    def hung(self):
        """The open calls once every rank is in its last one, or has left it, and lasts."""
        def look():
            calls = self.look()
            lasting = calls and sum(len(group["ranks"]) for group in calls["groups"] if (group["open_ns"] or 0) > 2e9)
            return calls if lasting == RANKS and len(calls["groups"]) < RANKS else None
        return until(look)

    def pids(self):
        """The ranks' processes: those that have the library and are no launcher."""
        return [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()
                and os.fsencode(self.trace) in read(entry / "environ") and read(entry / "cmdline").startswith(
                    os.fsencode(BUILD / "mpi/hangs"))]

    def kill(self):
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):  # the launcher ends ranks, too
                os.kill(pid, signal.SIGKILL)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        status = self.process.wait(PROGRAM_SECONDS)
        self.kill()
        until(lambda: not self.pids())
        return status


def read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def group_of(calls, rank):
    groups = [group for group in calls["groups"] if rank in group["ranks"]]
    assert len(groups) == 1, calls
    return groups[0]


def is_at(group, function, is_open=True, **facts):
    """The group is in this call, at the line of the source."""
    expected = {"mpi_function": function, "is_open": is_open, "function": PLACES[function], "line": LINES[function]} | facts
    return {name: group[name] for name in expected} == expected or pytest.fail(str(group))


def missing(calls):
    """Pairs of the function that waits, and the ranks it waits for."""
    return [(calls["groups"][one["group"]]["mpi_function"], one["ranks"]) for one in calls["missing"]]


def is_hung(how, calls):
    """The calls are those of the program."""
    others = group_of(calls, 2)
    number = 0 if how == "first" else 20
    if how == "first":
        assert others["comm"] not in (None, "MPI_COMM_WORLD")
    assert is_at(others, "MPI_Allreduce", number=number)
    assert others["ranks"] == ([2, 3] if how in ("cycle", "finalize") else OTHERS)
    if how == "outside":
        assert is_at(group_of(calls, 1), "MPI_Send", is_open=False) and calls["cycle"] == []
    elif how == "poll":
        assert is_at(group_of(calls, 1), "MPI_Iprobe") and calls["cycle"] == []
    elif how == "cycle":
        assert is_at(group_of(calls, 0), "MPI_Recv")
        assert sorted(calls["cycle"]) == [0, 1] and ("MPI_Allreduce", [0, 1]) in missing(calls)
    else:
        assert is_at(group_of(calls, 1), "MPI_Recv", **{"from": 0, "comm": "MPI_COMM_WORLD"})
    if how in ("receive", "first"):
        assert len(calls["cycle"]) == 2 and 1 in calls["cycle"]
    if how == "finalize":
        group = group_of(calls, 0)
        assert (group["mpi_function"], group["state"]) == ("MPI_Finalize", "finalizes")
        assert ("MPI_Recv", [0]) in missing(calls)
    elif how != "cycle":
        assert ("MPI_Allreduce", [1]) in missing(calls)
    return True


def without_times(calls):
    groups = [{name: value for name, value in group.items() if name not in ("state", "since_ns", "open_ns")}
              for group in calls["groups"]]
    return groups, calls["missing"], calls["cycle"]


def text_rows(text):
    """The labels and texts of the first screen about the open calls: its first paragraph's until the efficiencies."""
    rows = [re.fullmatch(r"    (.+?): (.*)|  (\S+(?: \S+)*)  +(.*)", line) for line in text.split("\n\n")[1].splitlines()]
    rows = [tuple(part for part in row.groups() if part is not None) for row in rows if row]
    labels = [label for label, _ in rows]
    return rows[:labels.index("parallel efficiency")]


def shows_the_same(page, trace):
    """The page's rows are the lines of the first screen, which shortens long ones."""
    text = text_rows(run(STAGGER, "report", trace).stdout)
    return len(page) == len(text) > 3 and all(
        re.fullmatch(".*".join(map(re.escape, " ".join(on_screen).split(".."))), " ".join(on_page))
        for on_page, on_screen in zip(page, text)) or pytest.fail(f"{page}\n{text}")


def page_rows(trace):
    page = trace.with_suffix(".html")
    run(STAGGER, "report", "--html", page, trace)
    tables = json.loads(run(sys.executable, ROOT / "tests/page/check_page.py", page).stdout)["tables"]
    return [tuple(cell["text"] for cell in row) for row in tables["open-calls"]]


@pytest.mark.parametrize("how, trace, rules", [
    ("outside", "stats", ""), ("receive", "otf2", ""), ("cycle", "stats", "*=mpich"), ("first", "otf2", ""),
    ("poll", "stats", ""), ("finalize", "otf2", "*=mpich")])
def test_a_hung_job_alive_and_killed(how, trace, rules):
    """report and watch show the calls of a job that hangs; after a SIGKILL to all its processes report shows the
    same ones, before and after recover.
    """
    job = Job(how, trace=trace, STAGGER_RULES=rules)
    alive = job.hung()
    watched = run(STAGGER, "watch", "--json", "--count", 1, job.trace).stdout
    text = run(STAGGER, "watch", "--count", 1, job.trace).stdout
    open_page = page_rows(job.trace)
    job.kill()
    job.end()
    dead = job.look()
    assert is_hung(how, alive) and alive["living_ranks"] == RANKS and alive["died"] == []
    assert without_times(checked("watch", watched)["open_calls"]) == without_times(alive)
    assert has(text, r"^open calls +\d ranks? ", r"^  .*: in MPI_Allreduce #\d+ .*hangs\.c:\d+")
    assert is_hung(how, dead) and dead["living_ranks"] == 0
    assert without_times(dead) == without_times(alive)
    assert has(run(STAGGER, "report", job.trace).stdout, "^  did not end ",
               "^  went first +unknown: there is no exit status")
    assert has(run(STAGGER, "watch", "--count", 1, job.trace).stdout, r"^note: the run has ended: stagger report ")
    assert open_page[0][0] == "open calls" and shows_the_same(page_rows(job.trace), job.trace)
    if trace == "otf2":
        run(STAGGER, "recover", job.trace)
        assert without_times(job.look()) == without_times(dead) and shows_the_same(page_rows(job.trace), job.trace)


def test_figures_of_a_hung_job():
    """a hung job's run lasts up to now, and its open calls are time in MPI, also in watch"""
    job = Job("receive")
    calls = job.hung()
    whole = checked("report", run(STAGGER, "report", "--json", job.trace).stdout)
    live = checked("watch", run(STAGGER, "watch", "--json", "--count", 1, job.trace).stdout)
    job.kill()
    job.end()
    open_ns = sum(len(group["ranks"]) * group["open_ns"] for group in calls["groups"])
    of = whole["efficiency"]
    assert open_ns > 4e9 * 2 and whole["mpi"]["time_ns"] >= open_ns and of["mpi_ns"] >= open_ns
    assert of["useful_ns"] <= sum(rank["thread_ns"] for rank in whole["per_rank"]) - open_ns
    assert all(0.9 * live["run_ns"] < rank["share"] * live["run_ns"] + rank["useful_ns"] <= 1.01 * live["run_ns"]
               for rank in live["per_rank"])
    assert live["mpi"]["time_ns"] >= open_ns


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGXCPU])
def test_run_ends_with_the_open_calls(number):
    """stagger run that gets a signal hands it on, prints the open calls, and ends as its program does."""
    job = Job("receive", STAGGER, "run")
    job.hung()
    status = job.end(number)
    text = job.err.read_text()
    assert status != 0
    assert has(text, r"^  (did not end|open calls) +3 ranks \(0,2-3\) wait for rank 1 in MPI_Allreduce #20",
               rf"^    rank 1: in MPI_Recv from 0 at receive_from hangs\.c:{LINES['MPI_Recv']}, for ")


def test_a_killed_launcher():
    """So does a run whose launcher is killed."""
    job = Job("outside", STAGGER, "run")
    job.hung()
    launchers = [int(entry.name) for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()
                 and f"PPid:\t{job.process.pid}\n".encode() in read(entry / "status")]
    for pid in launchers:
        os.kill(pid, signal.SIGKILL)
    job.process.wait(PROGRAM_SECONDS)
    job.end()
    assert len(launchers) == 1
    assert has(job.err.read_text(), r"^  (did not end|open calls) ",
               rf"^    rank 1: .*after MPI_Send at send_to hangs\.c:{LINES['MPI_Send']}")


@pytest.mark.parametrize("how", ["abort", "kill", "crash", "leave"])
def test_a_rank_that_ends_alone(how):
    """The run's end and the report name the rank that called MPI_Abort, or that ended first while the others waited
    for it, with its last call.
    """
    job = Job(how, STAGGER, "run")
    status = job.process.wait(PROGRAM_SECONDS)
    calls = job.look()
    texts = [job.err.read_text(), run(STAGGER, "report", job.trace).stdout]
    job.end()
    assert status != 0 and is_at(group_of(calls, 1), "MPI_Allreduce", is_open=False)
    assert calls["aborted"] == ([1] if how == "abort" else [])
    assert calls["went_first"] == (None if how == "abort" else 1) and not calls["was_told"]
    assert calls["exit_status"] == (status if status > 0 else 128 - status)
    for text in texts:
        if how == "abort":
            assert has(text, r"^  did not end +rank 1 called MPI_Abort$") and lacks(text, "went first")
        else:
            assert has(text, r"^    rank 1: outside MPI, after MPI_Allreduce at reduce_all hangs\.c:",
                       rf"^  went first +probably rank 1: the others waited; exit status {status}\b")


@pytest.mark.parametrize("how", ["cycle", "outside"])
def test_a_rank_that_is_killed_from_outside(how):
    """If all ranks waited, or the run was told to end, the first rank to end is unknown."""
    job = Job(how, STAGGER, "run")
    job.hung()
    if how == "cycle":
        os.kill(next(pid for pid in job.pids() if b"PMI_RANK=2" in read(pathlib.Path(f"/proc/{pid}/environ"))),
                signal.SIGKILL)
        job.process.wait(PROGRAM_SECONDS)
    job.end()
    calls, text = job.look(), run(STAGGER, "report", job.trace).stdout
    assert calls["went_first"] is None and calls["was_told"] == (how == "outside")
    assert has(text, "^  went first +unknown: all of them waited") if how == "cycle" else lacks(text, "went first")


@pytest.mark.parametrize("how, call", [
    ("receive", "in MPI_Recv from rank 0 at receive_from hangs.c:{MPI_Recv}"),
    ("outside", "outside MPI, after MPI_Send at send_to hangs.c:{MPI_Send}"),
    ("poll", "polling with MPI_Iprobe at poll_for hangs.c:{MPI_Iprobe}"), ("finalize", "in MPI_Finalize")])
@pytest.mark.parametrize("ranks_per_node, line", [("", "  rank {}: "), ("1", "; rank {} is ")])
def test_the_line_about_a_long_wait(how, call, ranks_per_node, line):
    """A rank that reports a long wait says in which call of any kind the rank is that has not come, where and since
    when.
    """
    across = {"STAGGER_RULES": "*=adaptive", "STAGGER_RANKS_PER_NODE": "1"} if ranks_per_node else {"STAGGER_RULES": "*=srm"}
    line = line.format(0 if how == "finalize" else 1)
    job = Job(how, STAGGER_STALL_S="1", **across)
    until(lambda: re.search(f"{line}.*\n", job.err.read_text()))
    job.end()
    assert has(job.err.read_text(), re.escape(line + call.format(**LINES)) + r", for \d+ s")


def test_a_run_that_ends_well():
    """Nothing is open after a run that reached MPI_Finalize, and no line speaks of it."""
    done = run(STAGGER, "run", "-o", "well", "-t", "stats", MPIEXEC, "-n", 2, BUILD / "mpi/calls", 5)
    assert report("well")["open_calls"] is None
    assert lacks(done.stderr + run(STAGGER, "report", "well").stdout, "did not end", "open calls")


def test_damaged_records():
    """A thread's record with wild numbers is left out, or shown without them; the report does not crash."""
    job = Job("receive")
    job.hung()
    job.end()
    logs = sorted(job.trace.glob("rank-*.log"))
    whole = [log.read_bytes() for log in logs]
    header, slot, kind = 4096, 64, 29
    for step in range(8, slot, 4):
        for log, content in zip(logs, whole):
            damaged = bytearray(content)
            for at in range(header, len(damaged), slot):
                if damaged[at] == kind:
                    damaged[at + step:at + step + 4] = b"\xfe\xff\xff\x7f"
            log.write_bytes(damaged)
        assert job.look() is not None
        assert run(STAGGER, "report", job.trace).returncode == 0
    for log, content in zip(logs, whole):
        log.write_bytes(content.replace(b"MPI_Recv\0", b"MPI\x1b[1m\xff\0"))
    assert "\x1b" not in run(STAGGER, "report", job.trace).stdout
