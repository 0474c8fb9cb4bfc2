"""Parts of a report: by call site, communicator, rank and time. Figures by hand: tests/report/known.h."""
import os
import re

import pytest
from lib.runs import refuses, report, run, stagger, STAGGER, writer


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
    sites = report("known", *options.split())["sites"]
    assert " ".join(f"{row['op']}:{row['calls']}:{row['wait_ns']}" for row in sites) == rows


@pytest.mark.parametrize("site", ["solve_the_system solver.c:88", "src/solver.c:88", "lib.so+0x20", "3f2a9c1b"])
def test_site(site):
    """--site takes the report's form, a file and line, a module and offset, or an id"""
    assert len(report("known", "--site", site)["sites"]) == 2


def test_parts_of_an_interval():
    """--time may omit an end, and --comm the number of ranks"""
    assert sum(row["wait_ns"] or 0 for row in report("known", "--time", ":11us")["sites"]) == 8300
    assert sum(row["comm_size"] == 4 for row in report("known", "--comm", "WORLD")["sites"]) == 3
    assert report("known", "--time", "9us:20us")["sites"][0]["instances"] == 1


def test_ranks():
    """each rank's figures count the selected calls"""
    ranks = report("known", "--site", "3f2a9c1b", "--comm", "WORLD")["per_rank"]
    assert [tuple(row[field] for field in ("rank", "calls", "wait_ns", "blocked_ns", "last_count")) for row in ranks] == [
        (0, 3, 10000, 10300, 0), (1, 3, 2500, 2900, 1), (2, 3, 6000, 6250, 2), (3, 3, 7800, 8300, 0)]


def test_names():
    """JSON and text name the selection, and the text has a table of ranks"""
    assert report("known", "--site", "dot", "--rank", "1-2", "--time", "1us:")["filter"] == {
        "site": "dot", "comm": None, "ranks": "1-2", "time_ns": [1000, None]}
    assert report("known")["filter"] is None
    text = stagger("report", "--site", "solver.c:88", "--rank", "0-1", "known")
    for line in ("only site solver.c:88, ranks 0-1$", "  rank calls +wait blocked +share +last$",
                 r"     1     3 2.50us  2.90us +2.9% +1$"):
        assert re.search("^" + line, text, re.MULTILINE)
    assert not re.search("^     2 |elsewhere", text, re.MULTILINE)
    assert "\nno calls match the filter\n" in run(STAGGER, "report", "--site", "nosuch", "known").stdout


@pytest.mark.parametrize("words", ["--site solver.c:x:0", "--rank x", "--rank 3-1", "--time 5", "--time 9us:1us",
                                   "--time a:b", "--comm ~", "--html x.html --site dot"])
def test_bad_usage(words):
    """an invalid selection, or one for a page, is bad usage"""
    assert refuses(2, "^stagger: report: |^stagger report: |html", "report", *words.split(), "known")


def test_statistics():
    """statistics refuse --time"""
    assert refuses(1, "statistics.*time", "report", "--time", "0:1s", "statistics")
