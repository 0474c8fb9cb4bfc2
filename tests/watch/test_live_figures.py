"""stagger watch on paused jobs: its figures are the report's on the same logs at that moment, and it names the
rank that the others wait for.
"""
import collections
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import pytest
from lib.runs import BUILD, LIBRARY, MPIEXEC, PROGRAM_SECONDS, STAGGER, WORK, accepted_faults, checked, has, is_sound, report, run

CALLS = ["barrier", "reduce", "allreduce", "recv", "allreduce", "alltoall", "barrier"]
FIGURES = ["calls", "failed_calls", "time_ns", "sent_bytes", "received_bytes", "completed_calls"]
ARRIVALS = ["wait_ns", "instances", "skew_ns", "last_rank", "last_rank_share"]


def until(condition, *arguments):
    """Polls until the condition holds, because the time is unknown."""
    end = time.monotonic() + PROGRAM_SECONDS
    while time.monotonic() < end:
        if condition(*arguments):
            return True
        time.sleep(0.02)  # the processor is others' meanwhile
    return pytest.fail(f"never: {condition.__name__} {arguments}")


class Job:
    """A run of the program `stopped`, whose last rank stops itself before each call."""

    def __init__(self, ranks, *calls, **variables):
        self.ranks, self.calls, self.last = ranks, list(calls), ranks - 1
        self.trace, self.pids = (pathlib.Path(tempfile.mkdtemp(dir=WORK)) for _ in range(2))
        self.process = subprocess.Popen(
            ["timeout", "--kill-after=5", str(PROGRAM_SECONDS), MPIEXEC, "-genv", "LD_PRELOAD", LIBRARY, "-n", str(ranks), BUILD / "mpi/stopped", self.pids, *calls],
            env=os.environ | {"STAGGER_DIR": str(self.trace), "STAGGER_CAUSES": "all"} | variables,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)

    def signal(self, rank, number):
        os.kill(int((self.pids / str(rank)).read_text()), number)

    def is_stopped(self, rank):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, ValueError):
            pid = int((self.pids / str(rank)).read_text())
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("T")
        return False

    def look(self, *options):
        """The last line of figures; None: there is no job yet."""
        done = run(STAGGER, "watch", "--json", *(options or ("--count", 1)), self.trace, check=False)
        return checked("watch", done.stdout.splitlines()[-1]) if done.returncode == 0 else None

    def is_in(self, function, *ranks):
        line = self.look()
        return line and all((line["per_rank"][rank]["in"] or {}).get("mpi_function") == function for rank in ranks)

    def pass_by(self, function):
        """Lets the last rank make the call once the others are in it; only the root waits for a reduction."""
        until(self.is_stopped, self.last)
        until(self.is_in, function, *([0] if function == "MPI_Reduce" else range(self.last)))
        self.signal(self.last, signal.SIGCONT)

    def stand_at(self, function):
        """The last rank has stopped, all others are in the call and are stopped, too."""
        until(self.is_stopped, self.last)
        until(self.is_in, function, *range(self.last))
        for rank in range(self.last):
            self.signal(rank, signal.SIGSTOP)
            until(self.is_stopped, rank)

    def ends_well(self):
        for rank in range(self.ranks):
            self.signal(rank, signal.SIGCONT)
        while self.process.poll() is None:
            if self.is_stopped(self.last):
                with contextlib.suppress(ProcessLookupError):
                    self.signal(self.last, signal.SIGCONT)
            time.sleep(0.02)
        return self.process.returncode == 0 and self.process.stdout.read().split() == self.calls


def place_of(row):
    return row["mpi_function"], row["id"], row["function"], row["file"], row["line"]


def compare_sums(line, statistics):
    """The figures of each call site, and why ranks are late there, are those of the report on the running job."""
    sums = collections.defaultdict(collections.Counter)
    for row in statistics["calls"]:
        sums[place_of(row)].update({figure: row[figure] for figure in FIGURES})
    shown = {place_of(row): row for row in line["calls"] if row["calls"] > 0}
    assert {place: {figure: row[figure] for figure in FIGURES} for place, row in shown.items()} == sums != {}
    assert (line["mpi"], line["ranks"]) == (statistics["mpi"], statistics["ranks"])
    assert sum(rank["time_ns"] for rank in line["per_rank"]) == statistics["mpi"]["time_ns"]
    # For the rank that arrives last, or has the least time, the intervals before the call that exceed the
    # others' the most; these rows come first.
    for place, row in shown.items():
        late = row["last_rank"] if row["last_rank"] is not None else row["least_rank"]
        whys = [{field: value for field, value in before.items() if field != "until"}
                for before in statistics["intervals"]["rows"] if before["rank"] == late and before["cause"] is not None
                and before["until"] is not None and place_of(before["until"]) == place]
        assert row["why"] == (whys[0] if whys else None)
    assert any(row["why"] for row in shown.values())


def compare_arrivals(line, events):
    """Waits and skews are those of an archive made of the logs at that moment."""
    assert {(row["mpi_function"], row["id"]): [row[figure] for figure in ARRIVALS]
            for row in line["calls"] if row["instances"] > 0} == {
        ("MPI_" + row["op"].capitalize(), row["id"]): [row[figure] for figure in ARRIVALS]
        for row in events["by_site"]} != {}


@pytest.mark.parametrize("ranks", [2, 4])
def test_figures(ranks):
    """a paused job's figures are the report's, and waiting ranks and the late one are named"""
    job = Job(ranks, *CALLS)
    for function in ("MPI_Barrier", "MPI_Reduce", "MPI_Allreduce", "MPI_Recv", "MPI_Allreduce"):
        job.pass_by(function)
    job.stand_at("MPI_Alltoall")
    line = job.look()
    compare_sums(line, report(job.trace))
    run(STAGGER, "recover", "--output", f"so-far-{ranks}", job.trace)
    compare_arrivals(line, report(f"so-far-{ranks}"))

    calls = {row["function"]: row for row in line["calls"] if row["mpi_function"] != "MPI_Bcast"}
    for name in ("call_barrier", "call_allreduce", "call_reduce"):  # it slept before each
        assert calls[name]["why"]["rank"] == job.last and calls[name]["why"]["off_ns"] > 0
    assert has(run(STAGGER, "watch", "--count", 1, job.trace).stdout,
               rf"call_barrier .* (asleep|preempted[a-z ]*) on {job.last}$")
    assert line["per_rank"][job.last]["in"] is None and line["per_rank"][0]["in"]["function"] == "call_alltoall"
    assert (line["living_ranks"], line["ranks"]) == (ranks, ranks)
    assert calls["call_allreduce"]["last_rank"] == calls["call_allreduce"]["least_rank"] == job.last
    # A call that nobody has completed has a row, too.
    assert (calls["call_alltoall"]["calls"], calls["call_alltoall"]["open_calls"]) == (0, job.last)

    # Within the interval nobody moves: every rank is in MPI for all of it, except the last one, which is in
    # MPI for none.
    second = job.look("--count", 2, "--interval", 0.2)
    assert [rank["now_share"] for rank in second["per_rank"]] == [1] * job.last + [0]
    assert (second["calls"][0]["mpi_function"], second["calls"][0]["now"]["calls"]) == ("MPI_Alltoall", 0)
    assert not accepted_faults("watch", second)
    assert job.ends_well() and not list(job.trace.glob("rank-*.log")) and is_sound(job.trace / "traces.otf2")


def test_statistics():
    """with statistics only, figures are the report's, and waits are unknown"""
    job = Job(2, "barrier", "allreduce", "allreduce", STAGGER_TRACE="stats")
    until(job.is_stopped, 1)
    job.signal(1, signal.SIGCONT)
    until(job.is_stopped, 1)
    until(lambda: sum(row["calls"] for row in (job.look() or {"calls": []})["calls"]) >= 4)
    job.signal(0, signal.SIGSTOP)
    until(job.is_stopped, 0)
    line, statistics = job.look(), report(job.trace)
    calls = [sorted((row["id"], row["calls"], row["time_ns"]) for row in one["calls"]) for one in (line, statistics)]
    assert line["mpi"] == statistics["mpi"] and calls[0] == calls[1]
    assert {row["wait_ns"] for row in line["calls"]} == {None}
    assert job.ends_well()
