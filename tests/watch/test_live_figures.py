"""stagger watch on paused jobs: its figures are the report's on the same logs at that moment, and it names the
rank that the others wait for.
"""
import collections
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import pytest
from prometheus_client import parser as classic
from prometheus_client.openmetrics import parser as openmetrics

from lib.runs import BUILD, LIBRARY, MPIEXEC, PROGRAM_SECONDS, ROOT, STAGGER, WORK, accepted_faults, checked, has, is_sound, report, run

CALLS = ["barrier", "reduce", "allreduce", "recv", "allreduce", "alltoall", "barrier"]
FIGURES = ["calls", "failed_calls", "time_ns", "sent_bytes", "received_bytes", "completed_calls"]
ARRIVALS = ["wait_ns", "instances", "skew_ns", "last_rank", "last_rank_share"]


def until(condition, *arguments):
    """Polls until the condition holds, because the time is unknown."""
    end = time.monotonic() + PROGRAM_SECONDS
    while time.monotonic() < end:
        if found := condition(*arguments):
            return found
        time.sleep(0.02)  # the processor is others' meanwhile
    return pytest.fail(f"never: {condition.__name__} {arguments}")


class Job:
    """A run of the program `stopped`, whose last rank stops itself before each call."""

    def __init__(self, ranks, *calls, name="trace", **variables):
        self.ranks, self.calls, self.last = ranks, list(calls), ranks - 1
        self.pids = pathlib.Path(tempfile.mkdtemp(dir=WORK))
        self.trace = pathlib.Path(tempfile.mkdtemp(dir=WORK)) / name
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


def is_consistent(efficiency):
    return efficiency["parallel"] == pytest.approx(efficiency["load_balance"] * efficiency["communication"])


def place_of(row):
    return row["mpi_function"], row["id"], row["function"], row["file"], row["line"]


def compare_sums(line, statistics):
    """The figures of each call site, and why ranks are late there, are those of the report on the running job."""
    sums = collections.defaultdict(collections.Counter)
    for row in statistics["calls"]:
        sums[place_of(row)].update({figure: row[figure] for figure in FIGURES})
    shown = {place_of(row): row for row in line["calls"] if row["calls"] > 0}
    assert {place: {figure: row[figure] for figure in FIGURES} for place, row in shown.items()} == sums != {}
    assert line["ranks"] == statistics["ranks"]
    ended_ns = sum(rank["time_ns"] for rank in line["per_rank"])
    if line["living_ranks"] == 0:
        assert line["mpi"] == statistics["mpi"] and ended_ns == statistics["mpi"]["time_ns"]
    else:  # calls that are open count up to each look
        assert ended_ns < line["mpi"]["time_ns"] < statistics["mpi"]["time_ns"]
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
    useful = [rank["useful_ns"] for rank in line["per_rank"]]
    assert line["efficiency"]["load_balance"] == pytest.approx(sum(useful) / ranks / max(useful))
    assert line["efficiency"]["communication"] == pytest.approx(max(useful) / line["run_ns"])
    assert is_consistent(line["efficiency"]) and line["now_efficiency"] is None
    assert calls["call_allreduce"]["last_rank"] == calls["call_allreduce"]["least_rank"] == job.last
    # A call that nobody has completed has a row, too.
    assert (calls["call_alltoall"]["calls"], calls["call_alltoall"]["open_calls"]) == (0, job.last)

    # Within the interval nobody moves: every rank is in MPI for all of it, except the last one, which is in
    # MPI for none.
    second = job.look("--count", 2, "--interval", 0.2)
    assert [rank["now_share"] for rank in second["per_rank"]] == [1] * job.last + [0]
    assert second["now_efficiency"] == {"parallel": 1 / ranks, "load_balance": 1 / ranks, "communication": 1}
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
    assert line["mpi"]["time_ns"] < statistics["mpi"]["time_ns"] and calls[0] == calls[1]
    assert {row["wait_ns"] for row in line["calls"]} == {None}
    assert job.ends_well()


@pytest.mark.parametrize("call, trace", [("recv", "otf2"), ("turned", "stats")])
def test_samples(call, trace):
    """samples name the rank whose message is awaited, and for how long it was outside MPI; no wait is claimed"""
    job, path = Job(3, call, call, STAGGER_TRACE=trace), WORK / "late.prom"

    def receives(ended):
        line = job.look() or {"calls": [], "open_calls": None}
        groups = line["open_calls"]["groups"] if line["open_calls"] else []
        return job.is_stopped(job.last) and any(
            group["is_open"] and group["mpi_function"] == "MPI_Recv" and group["ranks"] == list(range(job.last)) for group in groups
        ) and sum(row["calls"] for row in line["calls"] if row["mpi_function"] == "MPI_Recv") == ended

    until(receives, 0)
    job.signal(job.last, signal.SIGCONT)
    until(receives, job.last)

    def sampled():
        line = job.look("--count", 2, "--interval", 2)
        return [row for row in line["calls"] if row["samples"] > 0 and row["late_ns"] > 0]

    [row] = until(sampled)
    assert (row["mpi_function"], row["late_samples"], row["late_rank"]) == ("MPI_Recv", row["samples"], job.last)
    assert row["late_rank_samples"] == row["now"]["late_rank_samples"] == row["samples"]
    assert row["wait_ns"] is None

    def metrics():
        run(STAGGER, "watch", "--openmetrics", path, "--count", 2, "--interval", 2, job.trace)
        samples, _ = metrics_of(path.read_text())
        return samples["stagger_late_seconds_total",] > 0 and samples

    found = until(metrics)
    [(site, seconds)] = [(key[1:], value) for key, value in found.items() if key[0] == "stagger_site_late_seconds_total"]
    assert site[0] == "MPI_Recv" and seconds == found["stagger_late_seconds_total",]
    assert (found["stagger_site_late_rank", *site], found["stagger_site_late_rank_ratio", *site]) == (job.last, 1)
    assert ("stagger_site_wait_seconds_total", *site) not in found
    until(lambda: re.search(rf"^  MPI_Recv .* {job.last} 100% ",
                            run(STAGGER, "watch", "--count", 2, "--interval", 2, job.trace).stdout, re.MULTILINE))
    assert job.ends_well()


def metrics_of(text):
    """The samples, by name and labels without the run, and the run; both parsers take the whole text."""
    families = list(openmetrics.text_string_to_metric_families(text))
    # A node exporter reads the older format, which has fewer types and no time stamps.
    assert {family.type for family in families} == {"gauge", "counter"}
    assert all(family.documentation and family.name.endswith(family.unit) for family in families)
    samples = [sample for family in families for sample in family.samples]
    old = [sample for family in classic.text_string_to_metric_families(text) for sample in family.samples]
    assert [(sample.name, sample.labels, sample.value) for sample in old] == [(sample.name, sample.labels, sample.value) for sample in samples]
    assert not any(sample.timestamp for sample in samples)
    [run_name] = {sample.labels.pop("run") for sample in samples}
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}, run_name


def test_openmetrics():
    """a file of OpenMetrics has the figures of --json, a bounded number of series, and tells of the job's end"""
    job, path = Job(4, *CALLS, name='a "b" \\ c\nd'), WORK / "job.prom"
    for function in ("MPI_Barrier", "MPI_Reduce", "MPI_Allreduce", "MPI_Recv", "MPI_Allreduce"):
        job.pass_by(function)
    job.stand_at("MPI_Alltoall")
    line = job.look()
    run(STAGGER, "watch", "--openmetrics", path, "--count", 1, job.trace)
    found, name = metrics_of(path.read_text())
    assert name == str(job.trace.resolve()).replace("\n", "\\n")
    assert found["stagger_job_ranks",] == found["stagger_ranks", "runs"] == 4
    assert (found["stagger_job_state", "running"], found["stagger_job_state", "finished"]) == (1, 0)
    assert found["stagger_job_info", "stopped", name.rpartition("/")[2], run(STAGGER, "--version").stdout.split()[1]] == 1
    assert found["stagger_load_balance_ratio",] * found["stagger_communication_efficiency_ratio",] == pytest.approx(
        found["stagger_parallel_efficiency_ratio",])
    assert found["stagger_useful_seconds",] == pytest.approx(
        4 * found["stagger_parallel_efficiency_ratio",] * found["stagger_run_seconds",])
    assert found["stagger_mpi_seconds_total",] == pytest.approx(sum(rank["time_ns"] for rank in line["per_rank"]) / 1e9)
    assert found["stagger_wait_seconds_total",] == pytest.approx(sum(row["wait_ns"] or 0 for row in line["calls"]) / 1e9)
    for row in line["calls"]:
        site = (row["mpi_function"], f"{row['function']} {pathlib.Path(row['file']).name}:{row['line']}", row["id"])
        late = row["last_rank"] if row["last_rank"] is not None else row["least_rank"]
        assert found["stagger_site_calls_total", *site] == row["calls"]
        assert found["stagger_site_mpi_seconds_total", *site] == pytest.approx(row["time_ns"] / 1e9)
        assert found["stagger_site_open_calls", *site] == row["open_calls"]
        assert found.get(("stagger_site_late_rank", *site)) == late
        assert found.get(("stagger_site_late_rank_ratio", *site)) == (row["last_rank_share"] and pytest.approx(row["last_rank_share"]))
        if row["instances"] > 0:
            assert found["stagger_site_wait_seconds_total", *site] == pytest.approx(row["wait_ns"] / 1e9)
            assert found["stagger_site_skew_median_seconds", *site] == pytest.approx(row["skew_ns"]["p50"] / 1e9)
            assert found["stagger_site_skew_greatest_seconds", *site] == pytest.approx(row["skew_ns"]["max"] / 1e9)
    assert found["stagger_sites",] == line["call_count"] > 2

    run(STAGGER, "watch", "--openmetrics", path, "--count", 2, "--interval", 0.1, "--top", 2, job.trace)
    found, _ = metrics_of(path.read_text())
    by_time = sorted(line["calls"], key=lambda row: -row["time_ns"])[:2]
    assert {key[3] for key in found if key[0] == "stagger_site_calls_total"} == {row["id"] for row in by_time}
    assert found["stagger_interval_load_balance_ratio",] == found["stagger_interval_parallel_efficiency_ratio",] == 0.25

    # The dashboard shows series that there are.
    panels = json.loads((ROOT / "dist/grafana.json").read_text())["panels"]
    used = {name for panel in panels for target in panel["targets"] for name in re.findall(r"stagger_\w+", target["expr"])}
    families = set(re.findall(r"^# TYPE (\w+)", path.read_text(), re.MULTILINE))
    assert used and {name.removesuffix("_total") for name in used} <= families

    watch = subprocess.Popen([STAGGER, "watch", "--openmetrics", path, "--interval", "0.1", job.trace], stderr=subprocess.PIPE)
    assert job.ends_well()
    assert watch.communicate(timeout=PROGRAM_SECONDS)[1] == b"" and watch.returncode == 0
    found, _ = metrics_of(path.read_text())
    assert (found["stagger_job_state", "running"], found["stagger_job_state", "finished"]) == (0, 1)
    assert found["stagger_ranks", "finished"] == 4 and sorted(WORK.glob("job.prom*")) == [path]
