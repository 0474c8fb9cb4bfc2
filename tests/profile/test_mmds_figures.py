"""MMDS: computation granularity and communication overhead add up to the run time; latencies and
distributions match those of a program with known calls.
"""
import re

import pytest
from lib.runs import STAGGER, Run, has, lacks, ran, refuses, run, stagger

MMDS = {"STAGGER_MMDS": "on",
        "STAGGER_MMDS_CALLS": "MPI_Waitall,MPI_Irecv,MPI_Allreduce,MPI_Recv_init,MPI_Ibarrier"}
PAPER = {"MPI_Isend": 12, "MPI_Irecv": 12, "MPI_Waitall": 12, "MPI_Barrier": 15, "MPI_Bcast": 21, "MPI_Allreduce": 18}
OTHERS = {"MPI_Wait": 27, "MPI_Recv_init": 18, "MPI_Sendrecv": 9, "MPI_Ibarrier": 9}


def mmds(ranks, *words, trace="stats", **settings):
    return ran(ranks, "known_mmds", *words, STAGGER_TRACE=trace, **{**MMDS, **settings})


def counts(found):
    return {row["primitive"]: row["count"] for row in found["primitives"]}


def adds_up(found, ranks, blocking):
    """Figures of that many ranks, each with so many calls of blocking functions."""
    kept = found["mmds"]
    assert (kept["ranks"], kept["overhead"]["count"]) == (ranks, ranks * blocking)
    assert kept["granularity"]["count"] == ranks * (blocking + 1)
    assert kept["sum_ns"] == kept["granularity"]["total_ns"] + kept["overhead"]["total_ns"]
    assert kept["run_ns"] == kept["sum_ns"] + kept["gap_ns"]
    for row in found["primitives"]:
        assert row["min_ns"] <= row["mean_ns"] <= row["max_ns"]
        assert abs(row["mean_ns"] * row["count"] - row["total_ns"]) <= row["count"]
    for row in [*found["primitives"], kept["granularity"], kept["overhead"]]:
        assert row["min_ns"] * row["count"] <= row["total_ns"] <= row["max_ns"] * row["count"]
    return True


def binned(found, primitive, what, count, total):
    """Ordered bins that do not overlap hold all values, whose sum is consistent with the bins' bounds."""
    bins = [row for row in found["mmds"]["distributions"]
            if (row["primitive"], row["what"]) == (primitive, what) and row["first_thread"] is not False]
    assert sum(row["count"] for row in bins) == count
    assert all(a["from"] < a["below"] <= b["from"] < b["below"] for a, b in zip(bins, bins[1:]))
    low, high = (sum(row[end] * row["count"] for row in bins) for end in ("from", "below"))
    return low <= total <= high


@pytest.mark.parametrize("trace", ["otf2", "stats"])
@pytest.mark.parametrize("nodes", ["0", "1"])
def test_figures(nodes, trace):
    """granularity, overhead, latencies and distributions are those of a program's calls, and add up"""
    known = mmds(3, trace=trace, STAGGER_RANKS_PER_NODE=nodes)
    assert known.ran_well() and adds_up(known.report, 3, 34)
    assert list(counts(known.report).items())[:6] == list(PAPER.items())
    assert counts(known.report).items() >= OTHERS.items()
    kept = known.report["mmds"]
    totals = {"Comp Granularity": kept["granularity"]["total_ns"], "Comm Overhead": kept["overhead"]["total_ns"]}
    totals |= {row["primitive"]: row["total_ns"] for row in known.report["primitives"]}
    for primitive, count in (("Comp Granularity", 105), ("Comm Overhead", 102), ("MPI_Waitall", 12), ("MPI_Irecv", 12),
                             ("MPI_Allreduce", 18), ("MPI_Ibarrier", 9)):
        assert binned(known.report, primitive, "latency_ns", count, totals[primitive])
    for primitive, count, total in (("MPI_Waitall", 0, 0), ("MPI_Irecv", 12, 480), ("MPI_Allreduce", 18, 576),
                                    ("MPI_Recv_init", 18, 432)):
        assert binned(known.report, primitive, "bytes", count, total)


def test_clock():
    """run time, overhead and granularity lie between the program's own measurements"""
    # Over all ranks: times taken inside calls are no longer than those measured, and times taken around
    # calls no shorter.
    known = mmds(3, STAGGER_RANKS_PER_NODE="1")
    seen = [list(map(int, line.split())) for line in re.findall(r"^rank \S+ (.*)", known.out, re.MULTILINE)]
    inside, around, blocking, computed = map(sum, zip(*seen))
    kept = known.report["mmds"]
    assert len(seen) == 3 and inside <= kept["run_ns"] <= around
    assert kept["overhead"]["total_ns"] <= blocking and kept["granularity"]["total_ns"] >= computed
    assert kept["granularity"]["max_ns"] >= max(one[3] for one in seen)


def test_text():
    """the text has the paper's columns and rows, --rank those of a rank, and CSV the same"""
    trace = mmds(3, trace="otf2", STAGGER_RANKS_PER_NODE="0").trace
    assert has(stagger("report", "--calls", trace), r"^  Primitive +Min\(ms\) +Max\(ms\) +Total\(ms\) +Count +Average\(ms\)$",
               *(rf"^  {name} +[0-9.]+ +[0-9.]+ +[0-9.]+ +{count} +[0-9.]+$"
                 for name, count in (("MPI_Isend", 12), ("Comp Granularity", 105), ("Comm Overhead", 102))),
               r"^run time +\d+\.\d{3} ms$", "^granularity and overhead +[0-9.]+ ms$", r"^gap +[0-9.]+ ms \(0%\)$")
    assert has(stagger("report", "--calls", "--rank", 1, trace), "3 ranks .*, only ranks 1( |$)",
               "^  MPI_Waitall .* 4 +[0-9.]+$", "^  Comm Overhead .* 34 +[0-9.]+$")
    summary = stagger("report", "--calls", "--csv", trace)
    assert has(summary, "^primitive,min_ns,max_ns,total_ns,count,mean_ns,open")
    assert summary == stagger("report", "--csv=primitives", trace)
    assert has(stagger("report", "--distribution", "mpi_irecv", trace), "^MPI_Irecv, latency: 12$", "^MPI_Irecv, bytes: 12$",
               "^ +40B +48B +12 +100%$")
    assert re.findall(".*bytes,.*", stagger("report", "--csv", "--distribution", "MPI_Irecv", trace)) == [
        "MPI_Irecv,bytes,,40,48,12"]
    assert refuses(2, "cannot be combined with --calls", "report", "--calls", "--html", "x.html", trace)
    assert refuses(1, "no distribution of .MPI_Bcast. was kept .*; there are: Comp Granularity, Comm Overhead, MPI_",
                   "report", "--distribution", "MPI_Bcast", trace)


def test_settings():
    """ranks that are not selected keep no distributions but count calls, finer bins have their bounds, off keeps none"""
    some = mmds(3, STAGGER_MMDS_BINS="16", STAGGER_MMDS_RANKS="0,2-7", STAGGER_MMDS_CALLS="irecv").report
    assert adds_up(some, 2, 34) and some["ranks"] == 3 and counts(some).items() >= PAPER.items()
    assert binned(some, "MPI_Irecv", "bytes", 8, 320)
    assert (40, 42) in {(row["from"], row["below"]) for row in some["mmds"]["distributions"] if row["what"] == "bytes"}
    off = mmds(2, STAGGER_MMDS="off")
    text = stagger("report", "--calls", off.trace)
    assert off.report["mmds"] is None and lacks(text, "Granularity|run time")
    assert has(text, "^  MPI_Irecv .* 8 +[0-9.]+$", r"^note: .* not kept \(STAGGER_MMDS=on\)$")


def test_wrong():
    """wrong values get one line each, and are ignored"""
    wrong = mmds(2, STAGGER_MMDS_BINS="3", STAGGER_MMDS_RANKS="1-", STAGGER_MMDS_CALLS="MPI_Watall")
    assert adds_up(wrong.report, 2, 34)
    for line in ("STAGGER_MMDS_BINS=3 is ignored: expected a power of two from 1 to 16",
                 "STAGGER_MMDS_RANKS=1- is ignored: expected ranks such as 3 or 0-3,8",
                 "STAGGER_MMDS_CALLS: MPI_Watall matches no function and is ignored; the nearest name is MPI_Waitall"):
        assert wrong.err.count(line) == 1


# ---- threads, MPI_Pcontrol, a killed rank --------------------------------------------------------


def test_parts():
    """a second thread's calls are separate, a gap marks the time without recording, MPI_Pcontrol(2) resets all figures"""
    threads = mmds(2, "threads")
    assert adds_up(threads.report, 2, 34)
    assert [threads.report["mmds"][name]["count"] for name in ("other_overhead", "other_granularity")] == [8, 6]
    assert has(stagger("report", "--calls", threads.trace), "^  Comm Overhead, other threads .* 8 +[0-9.]+$")
    kept = mmds(2, "pcontrol").report["mmds"]
    # The computation before MPI_Pcontrol(0) is one, that after MPI_Pcontrol(1) another.
    assert (kept["overhead"]["count"], kept["granularity"]["count"]) == (68, 72)
    assert 0 < kept["gap_ns"] == kept["run_ns"] - kept["sum_ns"]
    reset = mmds(2, "reset").report
    assert adds_up(reset, 2, 2) and counts(reset) == {"MPI_Barrier": 4} and binned(reset, "MPI_Irecv", "bytes", 0, 0)


@pytest.mark.parametrize("trace", ["otf2", "stats"])
def test_killed(trace):
    """a killed rank's figures up to the kill are kept"""
    killed = Run(2, "known_mmds", "kill", STAGGER_TRACE=trace, **MMDS)
    if trace == "otf2":
        run(STAGGER, "recover", killed.trace)
    # Its last computation did not end, so there are as many as blocking functions.
    assert has(run(STAGGER, "report", "--calls", "--rank", 1, killed.trace).stdout, "^  MPI_Waitall .* 4 +[0-9.]+$",
               "^  Comp Granularity .* 34 +[0-9.]+$", "^  Comm Overhead .* 34 +[0-9.]+$", "^gap +0.000 ms")
