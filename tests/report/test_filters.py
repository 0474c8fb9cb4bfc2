"""Parts of a report: by call site, communicator, rank and time. Figures by hand: tests/report/known.h."""
import os

import pytest
from lib.runs import has, lacks, refuses, report, stagger, writer


@pytest.fixture(scope="module", autouse=True)
def archives():
    make = writer("report/make_archive")
    make("known", "known")
    os.mkdir("statistics")
    make("statistics", "statistics")


@pytest.mark.parametrize("options, rows", [
    ("--site solve_the_system", "barrier:12:26300 allreduce:1:0"),
    ("--comm half", "allreduce:1:1900 allreduce:1:0"),
    ("--comm SELF(1)", "allreduce:2:0"),
    ("--site solve_the_system --comm WORLD(4)", "barrier:12:26300"),
    ("--site 3f2a9c1b --comm WORLD --rank 0,2", "barrier:6:16000"),
    ("--site 3f2a9c1b --comm WORLD --rank 1-3", "barrier:9:16300"),
    ("--time 9us:20us", "barrier:4:2300")])
def test_selection(options, rows):
    """a filter selects call sites, communicators, ranks and instances"""
    sites = report(*options.split(), "known")["sites"]
    assert " ".join(f"{row['op']}:{row['calls']}:{row['wait_ns']}" for row in sites) == rows


def test_forms():
    """--site takes the report's form, a file and line, a module and offset, or an id; --time may omit an end"""
    for site in ("solve_the_system solver.c:88", "src/solver.c:88", "lib.so+0x20", "3f2a9c1b"):
        assert len(report("--site", site, "known")["sites"]) == 2
    assert sum(row["wait_ns"] or 0 for row in report("--time", ":11us", "known")["sites"]) == 8300
    assert sum(row["comm_size"] == 4 for row in report("--comm", "WORLD", "known")["sites"]) == 3
    assert report("--time", "9us:20us", "known")["sites"][0]["instances"] == 1


def test_output():
    """each rank's figures count the selected calls, and JSON and text name the selection"""
    ranks = report("--site", "3f2a9c1b", "--comm", "WORLD", "known")["per_rank"]
    assert [[row[field] for field in ("rank", "calls", "wait_ns", "blocked_ns", "last_count")] for row in ranks] == [
        [0, 3, 10000, 10300, 0], [1, 3, 2500, 2900, 1], [2, 3, 6000, 6250, 2], [3, 3, 7800, 8300, 0]]
    assert report("--site", "norm", "--rank", "1-2", "--time", "1us:", "known")["filter"] == {
        "site": "norm", "comm": None, "ranks": "1-2", "time_ns": [1000, None]}
    assert report("known")["filter"] is None
    text = stagger("report", "--all", "--site", "solver.c:88", "--rank", "0-1", "known")
    assert has(text, ", only site solver.c:88, ranks 0-1 ", "^  rank waiting share +caused$",
               r"^     1  2.50us  2.5% 6.00us$") and lacks(text, "^     2 |in MPI +waiting")


@pytest.mark.parametrize("words, line", [
    ("--site nosuch", "call site matches .nosuch.; this run has: .*norm cg"),
    ("--why nosuch", "call site matches .nosuch.; this run has: .*norm cg"),
    ("--comm nosuch --site norm", r"communicator matches .nosuch.; this run has: .*WORLD\(4\), .*half"),
    ("--rank 4,7-9", "rank matches .4,7-9.; this run has: 0 to 3$")])
def test_nothing(words, line):
    """a selection that matches nothing is refused, and a line names what the run has"""
    assert refuses(1, f"^stagger: report: no {line}", "report", *words.split(), "known")


@pytest.mark.parametrize("words", ["--site solver.c:x:0", "--rank x", "--rank 3-1", "--time 5", "--time 9us:1us",
                                   "--time a:b", "--comm ~", "--html x.html --site dot"])
def test_bad_usage(words):
    """an invalid selection, or one for a page or of statistics by time, is refused"""
    assert refuses(2, "^stagger: report: |^stagger report: |html", "report", *words.split(), "known")
    assert refuses(1, "statistics.*time", "report", "--time", "0:1s", "statistics")
