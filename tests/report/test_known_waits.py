"""Wait states of programs with known waits: the states, functions and ranks. Ignores the length of
waits, and whether every round waited: the machine may be slow.
"""
import json

import pytest
from lib.runs import Run, has, is_sound, lacks, ran, run, stagger

RANKS = {"known_waits": 3, "known_between": 4, "known_neighbors": 4}


def pairs_of(program):
    """A line for each pair of call sites of which one waits for the other."""
    return "\n".join(
        "{state}: {mpi_function} in {function} for {rank}: ".format(**pair) +
        "{mpi_function} in {function}".format(**pair["for"])
        for pair in ran(RANKS[program], program).report["wait_states"]["pairs"]
        if program != "known_waits" or pair["waits"] <= 20)


def matched(report):
    return [report["wait_states"][name] for name in ("matched_messages", "unmatched_sends", "unmatched_receives")]


@pytest.mark.parametrize("program", RANKS)
def test_runs(program):
    """the program runs, and its archive is sound"""
    known = ran(RANKS[program], program)
    assert known.ran_well() and known.is_sound()


@pytest.mark.parametrize("wait", [
    "late sender: MPI_Recv in early_recv for 0: MPI_Send in late_send",
    "late sender: MPI_Recv in early_wildcard for 0: MPI_Send in late_send",
    "late sender: MPI_Wait in early_wait for 0: MPI_Send in late_send",
    "late sender: MPI_Wait in early_start for 0: MPI_Send in late_send",
    "late sender: MPI_Test in early_test for 0: MPI_Send in late_send",
    "late sender: MPI_Probe in early_probe for 0: MPI_Send in late_send",
    "late sender: MPI_Mprobe in early_mprobe for 0: MPI_Send in late_send",
    "late sender: MPI_Waitall in early_waitall for 2: MPI_Send in late_send",
    "late sender: MPI_Recv in early_with_cancelled for 0: MPI_Send in late_send",
    "late sender: MPI_Sendrecv in early_sendrecv for 0: MPI_Sendrecv in late_sendrecv",
    "late receiver: MPI_Ssend in early_ssend for 1: MPI_Recv in late_recv",
    "late receiver: MPI_Wait in early_issend for 1: MPI_Recv in late_recv",
    "late broadcast: MPI_Bcast in bcast for 1: MPI_Bcast in bcast",
    "late broadcast: MPI_Wait in ibcast for 1: MPI_Ibcast in ibcast",
    "early reduce: MPI_Gather in gather for 2: MPI_Gather in gather",
    "wait at NxN: MPI_Alltoall in alltoall for 2: MPI_Alltoall in alltoall",
    "wait at NxN: MPI_Alltoallv in sparse for 0: MPI_Alltoallv in sparse",
    "early scan: MPI_Scan in scan for 0: MPI_Scan in scan"])
def test_waits(wait):
    """a late rank is found"""
    assert has(pairs_of("known_waits"), f"^{wait}$")


def test_nobody():
    """no rank waits for one that exchanges nothing with it"""
    assert lacks(pairs_of("known_waits"), "MPI_Alltoallv in sparse for 2:")


def test_messages():
    """exactly the expected messages are matched, those in wrong order are found, and the text names the waits"""
    waits = ran(3, "known_waits")
    assert matched(waits.report) == [160, 0, 0]
    assert [row["function"] for row in waits.report["wait_states"]["by_site"] if row["wrong_order_waits"]] == [
        "early_wrong_order"]
    assert has(stagger("report", "--all", "--top", 100, waits.trace),
               r"MPI_Ssend +early_ssend known_waits.c:\d+ +1 +MPI_Recv +late_recv known_waits.c:\d+$")


# ---- between groups: ranks 2, 0 and 1, 3 -------------------------------------------------------


@pytest.mark.parametrize("state, function, rank", [
    ("late sender", "message", 0), ("late sender", "posted", 1), ("wait at barrier", "barrier", 3),
    ("wait at NxN", "allreduce", 3), ("wait at NxN", "ialltoall", 0), ("late broadcast", "bcast", 0),
    ("early reduce", "reduce", 2), ("early reduce", "gather", 3), ("wait at NxN", "one_way", 1)])
def test_between(state, function, rank):
    """ranks of a group wait for a late rank of the other"""
    assert has(pairs_of("known_between"), f"^{state}: MPI_[A-Za-z]* in {function} for {rank}: ")


def test_intercommunicators():
    """intercommunicators are defined once, with both groups and their parent, and no call is omitted"""
    between = ran(4, "known_between")
    is_sound(between.archive, "--json", "counts.json")
    with open("counts.json", encoding="utf-8") as file:
        comms = {comm["name"]: comm for comm in json.load(file)["comms"] if comm["groups"] or comm["name"] == "merged"}
    assert {name: sorted(map(sorted, comm["groups"])) for name, comm in comms.items() if comm["groups"]} == {
        "between": [[0, 2], [1, 3]], "copy": [[0, 2], [1, 3]], "lower": [[0], [1]], "upper": [[2], [3]]}
    assert {name: comm["parent"] for name, comm in comms.items()} == {
        "between": None, "merged": None, "copy": "between", "lower": "between", "upper": "between"}
    assert (between.report["partial"], between.report["dropped_calls"], matched(between.report)) == (False, 0, [10, 0, 0])


# ---- neighbors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("call, place, late", [
    ("MPI_Neighbor_allgather", "line", "MPI_Neighbor_allgather"),
    ("MPI_Neighbor_alltoall", "exchange", "MPI_Neighbor_alltoall"),
    ("MPI_Wait", "posted", "MPI_Ineighbor_allgather"), ("MPI_Wait", "started", "MPI_Start"),
    ("MPI_Neighbor_alltoall", "graph", "MPI_Neighbor_alltoall"),
    ("MPI_Neighbor_allgather", "edges", "MPI_Neighbor_allgather")])
def test_neighbors(call, place, late):
    """a rank waits for its late neighbor, and no other does"""
    neighbors = ran(4, "known_neighbors")
    if place == "started" and '"MPI_Neighbor_alltoall_init"' not in run("otf2-print", "-G", neighbors.archive).stdout:
        pytest.skip("this MPICH has no persistent ones")
    assert has(pairs_of("known_neighbors"), f"^late neighbor: {call} in beside_{place} for 0: {late} in late_{place}$")


def test_no_neighbors():
    """no rank waits for one that is not its neighbor, nor without sources, nor in functions that are filtered out"""
    assert lacks(pairs_of("known_neighbors"), "in away_[a-z]* for 0:", "^late neighbor: [^:]* in (late|away)_edges")
    assert has(stagger("report", "--all", "--top", 100, ran(4, "known_neighbors").trace),
               r"^ +late neighbor +MPI_Neighbor_alltoall +beside_exchange known_neighbors.c:\d+ ")
    fewer = Run(4, "known_neighbors", STAGGER_CALLS="*neighbor_allgather*")
    text = stagger("report", "--all", "--top", 100, fewer.trace)
    assert fewer.is_sound() and lacks(text, "MPI_Neighbor_alltoall")
    assert has(text, "^ +late neighbor +MPI_Neighbor_allgather +beside_edges ")


# ---- messages of which some have no events: each has its own length, which the archive check compares --


@pytest.mark.parametrize("kind, messages, variables", [
    ("switched", [7, 1, 1], {}), ("pending", [5, 7, 0], {}),
    ("kinds", [18, 0, 6], {"STAGGER_EVENTS": "Ssend,Isend,Sendrecv,Recv,Wait"}),
    ("kinds", [18, 0, 6], {"STAGGER_CALLS": "Ssend,Isend,Sendrecv,Recv"}),
    ("pending", [2, 10, 0], {"STAGGER_EVENTS": "Send,Irecv,Wait,Start"})])
def test_gaps(kind, messages, variables):
    """only messages with an event at both ends are matched"""
    gaps = Run(2, "gaps", kind, **variables)
    assert gaps.ran_well() and gaps.is_sound() and matched(gaps.report) == messages
    assert gaps.report["wait_states"]["clock_violations"] == 0
