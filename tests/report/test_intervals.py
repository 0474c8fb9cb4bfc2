"""The ranks' activity before calls, from logs without events, for programs where it is known. As in why.sh,
additional delays from the machine are ignored.
"""
import json
import re
import sys

from lib.runs import BUILD, ROOT, STAGGER, Run, has, lacks, report, run, stagger

ROUNDS = 20


def between(what, holds, **variables):
    """A run whose intervals between the two barriers of a round, of rank 1, which works, and rank 0, hold; one of
    five, because the machine may delay either rank. Returns it with these rows."""
    for _ in range(5):
        known = Run(2, "known_causes", what, ROUNDS, **{"STAGGER_CAUSES": "all", "STAGGER_TRACE": "stats"} | variables)
        first = known.report["intervals"]["rows"][0]
        rows = sorted(known.report["intervals"]["rows"], key=lambda row: row["time_ns"])
        rows = {row["rank"]: row for row in rows if row["intervals"] == ROUNDS}
        if known.ran_well() and {0, 1} <= rows.keys() and holds(rows[1], rows[0], first):
            return known, rows[1], rows[0]
    raise AssertionError(rows)


def test_sleep():
    """a rank that sleeps does so before the barrier, more than it does anything else, in text, CSV and page, too"""
    sleep, row, other = between("sleep", lambda row, other, first: row is first and other["longer_ns"] == 0 and row["off_ns"] >= 60000000 and row[
        "voluntary_switches"] >= 60 and row["cause"] in ("asleep", "preempted", "preempted by others"))
    intervals = sleep.report["intervals"]
    assert other["cause"] is None and row["others_mean_ns"] == other["mean_ns"]
    # Its excess is the sum of its own intervals minus as many of the others; the parts add up to its time.
    assert abs(row["longer_ns"] - (row["time_ns"] - ROUNDS * other["mean_ns"])) < 1
    assert row["cpu_ns"] + row["runnable_ns"] + row["off_ns"] == row["time_ns"]
    assert row["after"]["mpi_function"] == row["until"]["mpi_function"] == "MPI_Barrier"
    assert row["after"]["line"] < row["until"]["line"]
    assert sum(one["after"] is None for one in intervals["rows"] if one["rank"] == 1) == 1
    assert any(one["until"] is None for one in intervals["rows"])

    # The sums are those of the logs.
    logs = run(BUILD / "tests/causes/print_causes", *sorted(sleep.trace.glob("rank-*.log"))).stdout
    sums = [dict(re.findall(r"(\w+)=(\d+)", line)) for line in re.findall("^sum .*", logs, re.MULTILINE)]
    assert [len(sums), sum(int(one["intervals"]) for one in sums), sum(int(one["time"]) for one in sums)] == [
        intervals[field] for field in ("row_count", "intervals", "time_ns")]

    assert has(stagger("report", "--all", sleep.trace), r"^between calls +\d+ intervals sampled",
               r"^ +1 +[0-9.]+[mu]?s +20 .* (asleep|preempted[a-z ]*) +MPI_Barrier main .* -> MPI_Barrier main ")
    csv = stagger("report", "--csv=intervals", sleep.trace)
    assert has(csv, "^rank,intervals,time_ns,mean_ns,others_mean_ns,longer_ns,cause,cpu_ns",
               "^1,20,[0-9.e+]+,.*,(asleep|preempted[a-z ]*),") and csv.count("\n") == intervals["row_count"] + 1
    assert [one["rank"] for one in report("--top", 1, sleep.trace)["intervals"]["rows"]] == [1]
    stagger("report", "--html", "sleep.html", sleep.trace)
    table = json.loads(run(sys.executable, ROOT / "tests/page/check_page.py", "sleep.html").stdout)["tables"]["before"]
    assert [table[1][1]["text"], table[1][4]["text"], len(table) - 1] == ["1", "20", intervals["row_count"]]
    assert abs(float(table[1][9]["data-v"]) - row["off_ns"] / row["time_ns"]) < 1e-6


def test_causes():
    """page faults are counted and named, and a rank is preempted by a thread of its own on the same processor"""
    between("faults", lambda row, *_: 1280 <= row["minor_faults"] <= 1600 and row["cause"] in (
        "page faults", "kernel", "computing", "preempted", "preempted by others"))
    # The rank computes for as long as it waits for the thread, a few clock ticks separate user from kernel
    # time, and other programs may preempt both: any of these may be the largest part.
    between("hog", lambda row, *_: row["runnable_ns"] >= 80000000 and row["threads_here_ns"] >= 64000000 and row["cause"] in (
        "preempted by its threads", "kernel", "computing", "preempted by others"))


def test_events():
    """with events, JSON has the sums, and the text has the causes and lists the unavailable sources in a line"""
    events = between("sleep", lambda row, *_: row["off_ns"] >= 60000000, STAGGER_TRACE="otf2")[0]
    text = stagger("report", "--all", events.trace)
    missing = re.findall("^  (scheduler|resource usage|migrations|counters|switches|threads): unavailable ",
                         run(STAGGER, "info").stdout, re.MULTILINE)
    assert events.report["intervals"]["missing_sources"] == missing
    assert has(text, "^Why ranks come late") and lacks(text, "^between calls") and re.findall(
        r"^note: causes computed without (.*) \(unavailable", text, re.MULTILINE) == [", ".join(missing)] * bool(missing)


def test_off():
    """without samples the report has no such table"""
    off = Run(2, "known_causes", "sleep", 5, STAGGER_CAUSES="off", STAGGER_TRACE="stats")
    assert off.report["intervals"] is None and lacks(stagger("report", "--all", off.trace), "^between calls")
    assert stagger("report", "--csv=intervals", off.trace).count("\n") == 1
