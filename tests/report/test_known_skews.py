"""The skew of MPICH's collectives by call site, for programs with known late ranks, and compared with that
of the archive's events, as OTF2's own reader has them. Ignores the amount of lateness and requires the
last rank only in most rounds: the machine may be slow.
"""
import collections
import statistics

import otf2
import pytest
from lib.runs import has, ran, stagger

RANKS = {"known_skews": 3, "orders": 2}


def calls_of(archive):
    """(comm, order, rank, begin, function, call site) of each member's part in a collective."""
    entered, begun = {}, {}
    orders = collections.Counter()
    with otf2.reader.open(archive) as trace:
        for location, event in trace.events:
            kind = type(event).__name__
            rank = location.group.name
            if kind == "Enter" and event.region.paradigm == otf2.Paradigm.MPI:
                texts = {a.name: v for a, v in (event.attributes or {}).items()}
                entered[location] = (event.time, event.region.name, texts.get("call site"), "seq" in texts)
                if {"communicator", "number"} <= set(texts):
                    yield texts["communicator"].name, texts["number"], int(rank.split()[-1]), *entered[location][:3]
            elif kind == "NonBlockingCollectiveRequest":
                begun[rank, event.request_id] = entered[location]
            elif kind in ("MpiCollectiveEnd", "NonBlockingCollectiveComplete"):
                call = entered[location] if kind == "MpiCollectiveEnd" else begun[rank, event.request_id]
                if call[3]:
                    continue
                name = event.communicator.name
                order = {a.name: v for a, v in (event.attributes or {}).items()}.get("number", orders[name, rank])
                orders[name, rank] += 1
                yield name, order, int(rank.split()[-1]), *call[:3]


def skews_of(archive):
    """By function and call site: instances, median, largest and mean skew, and how often the last rank was last."""
    instances = collections.defaultdict(list)
    for comm, order, rank, begin, function, site in calls_of(str(archive)):
        instances[comm, order].append((rank, begin, function, site))
    skews, lasts = collections.defaultdict(list), collections.defaultdict(collections.Counter)
    for members in instances.values():
        members.sort()
        assert len({m[2:] for m in members}) == 1, members
        begins = [m[1] for m in members]
        key = members[0][2], members[0][3].rsplit("#", 1)[1]
        skews[key].append(max(begins) - min(begins))
        lasts[key][members[begins.index(max(begins))][0]] += 1
    return {
        key: [len(values), min(s for s in values if 2 * sum(t <= s for t in values) >= len(values)), max(values),
              round(float(f"{statistics.mean(values):.9g}"), 3), max(lasts[key].values())]
        for key, values in skews.items()}


@pytest.mark.parametrize("program", RANKS)
def test_skews(program):
    """the archive is sound, and the skews are those of its events"""
    run = ran(RANKS[program], program)
    assert run.ran_well() and run.is_sound()
    assert skews_of(run.archive) == {
        (row["mpi_function"], row["id"]): [
            row["instances"], row["skew_ns"]["p50"], row["skew_ns"]["max"], round(row["skew_ns"]["mean"], 3),
            round(row["last_rank_share"] * row["instances"])]
        for row in run.report["collectives"] if row["instances"]}


@pytest.mark.parametrize("program, fields, rows", [
    ("known_skews", "mpi_function function comm comm_size calls instances last_rank", """\
MPI_Allgather allgather MPI_COMM_WORLD 3 30 10 1
MPI_Alltoall alltoall MPI_COMM_WORLD 3 30 10 0
MPI_Ibarrier ibarrier pair 2 20 10 0
MPI_Scatter scatter MPI_COMM_WORLD 3 30 10 2"""),
    ("orders", "mpi_function function calls instances", """\
MPI_Iallgather iallgather 18 9
MPI_Ibcast another 18 9
MPI_Ibcast ibcast 36 18
MPI_Start start_alltoall 8 4
MPI_Start start_gather 8 4""")])
def test_rows(program, fields, rows):
    """each call site has its calls and instances, in whatever order ranks complete them, and the late rank is last"""
    collectives = ran(RANKS[program], program).report["collectives"]
    assert sorted(" ".join(str(row[field]) for field in fields.split()) for row in collectives
                  if row["mpi_function"] != "MPI_Comm_split") == rows.split("\n")


def test_waits():
    """the last ranks waited for nobody, the others for them, and stagger's own collectives are separate"""
    report = ran(3, "known_skews").report
    assert all(row["wait_ns"] > 0 for row in report["collectives"] if row["mpi_function"] not in ("MPI_Scatter", "MPI_Comm_split"))
    assert (report["by_site"][0]["op"], report["by_site"][0]["instances"]) == ("barrier", 10)


def test_text():
    """text and CSV have the skews"""
    assert has(stagger("report", "--all", ran(3, "known_skews").trace),
               r"^  MPI_Allgather +allgather known_skews.c:\d+ +WORLD\(3\) +30 +10 .* 1 +\d+% ")
    assert has(stagger("report", "--csv=collectives", ran(3, "known_skews").trace),
               "^MPI_Ibarrier,[0-9a-f]{8},ibarrier,.*,pair,2,1,20,10,")
