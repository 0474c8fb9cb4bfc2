"""A call site that is used on many communicators is one row, and the headline counts it once."""
import re

import pytest
from lib.runs import has, report, stagger, writer

SUMS = ("calls", "bytes", "wait_ns", "blocked_ns", "instances", "late", "handler_ns")


@pytest.fixture(scope="module", autouse=True)
def archives():
    for kind in ("many-comms", "known"):
        writer("report/make_archive")(kind, kind)


def test_text():
    """the text has a row for a call site, sorts and cuts these, and has rows by communicator with --comms"""
    # 40 barriers of 100 ns each at A, one allreduce of 400 ns at B.
    text, split = stagger("report", "--all", "many-comms"), stagger("report", "--all", "--comms", "many-comms")
    most = r"^  MPI_Barrier +solve_the_system solver\.c:88 +2\.0 % +1 +outside MPI solver\.c:88 -> 88$"
    assert has(text, most, r"^  barrier +solve_the_system solver.c:88 +40 comms +mpich\+srm +80 +40 ")
    assert has(split, most, r"^  barrier +solve_the_system solver.c:88 +copy-7\(2\) +srm +2 +1 ")
    assert [len(re.findall(r"^  (?:barrier +solve|allreduce +norm)", one, re.MULTILINE)) for one in (text, split)] == [2, 41]
    assert re.findall(r"^  (barrier|allreduce) +\w+ ", stagger("report", "--all", "--sort", "wait", "many-comms"),
                      re.MULTILINE)[:2] == ["barrier", "allreduce"]
    assert has(stagger("report", "--all", "--top", 1, "many-comms"), "^note: 1 of 2 call sites are shown$")
    assert has(stagger("report", "--all", "--comms", "--top", 1, "many-comms"), "^note: 1 of 41 rows are shown$")


def test_json():
    """JSON and CSV have the rows by communicator, and JSON the sum of each call site, with skews taken together"""
    found = report("many-comms")
    assert [len(found["sites"]), found["site_count"], len(found["by_site"]), found["by_site_count"]] == [41, 41, 2, 2]
    assert stagger("report", "--csv", "many-comms").count("\n") == 42
    row = found["by_site"][0]
    assert [row[field] for field in ("comms", "comm", "comm_size", "calls", "instances", "wait_ns", "last_rank",
                                     "algorithm")] == [40, None, 2, 80, 40, 4000, 1, "mpich+srm"]
    assert [set(row["skew_ns"].values()) for row in found["by_site"]] == [{100}, {400}]
    top = report("--top", 1, "many-comms")
    assert (len(top["by_site"]), top["by_site_count"]) == (1, 2)
    row = report("known")["by_site"][0]
    assert (row["comm"], row["comm_size"], row["comms"]) == ("MPI_COMM_WORLD", 4, 1)
    for one in (found, report("known")):
        for total in one["by_site"]:
            rows = [row for row in one["sites"] if (row["id"], row["op"]) == (total["id"], total["op"])]
            assert [sum(row[field] or 0 for row in rows) for field in SUMS] == [total[field] or 0 for field in SUMS]
