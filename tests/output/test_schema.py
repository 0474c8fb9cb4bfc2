"""The JSON that commands print has the form of docs/schema, which allows no other."""
# long
import json
import re

import pytest
from lib.runs import ROOT, STAGGER, WORK, accepted_faults, checked, ran, report, run, writer

GOLDEN = {f"{path.parts[-3]}/{path.name}": (path.parts[-3], path) for path in sorted(ROOT.glob("tests/*/golden/*.json"))}
CAUSES = {"STAGGER_CAUSES": "all"}


def runs():
    """Runs with all parts of a report."""
    killed = ran(2, "known_causes", "die", 20, **CAUSES)
    if not killed.archive.exists():
        run(STAGGER, "recover", killed.trace)
    return [ran(2, "known_causes", "sleep", 30, STAGGER_TRIAL="barrier@main=mpich|srm", STAGGER_TRIAL_BLOCK="2", **CAUSES),
            ran(2, "known_causes", "sleep", 30, STAGGER_TRACE="stats", **CAUSES), killed,
            ran(3, "all_calls", "file", STAGGER_MMDS="on"), ran(2, "trial", 100, STAGGER_RULES="*=auto(block=2,hold=16)"),
            ran(2, "cg", "-n", 8, STAGGER_RANKS_PER_NODE="1", STAGGER_RULES="allreduce=bcs")]


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name):
    """the golden JSON of hand-written runs is as its schema says"""
    assert checked(GOLDEN[name][0], GOLDEN[name][1].read_text())


@pytest.mark.parametrize("kind", ["slices", "far-slices", "swapped", "killed-statistics"])
def test_written(kind):
    """the report of hand-written logs is as its schema says"""
    (WORK / kind).mkdir()
    writer("report/make_archive")(kind, WORK / kind)
    assert report(WORK / kind)


@pytest.mark.parametrize("options", ["", "--rank 0 --top 1", "--comm WORLD --site *"])
def test_reports(options):
    """reports of real runs are as their schema says, whatever part is chosen"""
    found = [report(*options.split(), one.trace) for one in runs()]
    for part in ("trials", "learned", "mmds", "causes", "intervals", "wait_states", "critical_path"):
        assert options or any(one[part] for one in found), part


def test_comparisons():
    """comparisons of real runs are as their schema says, with several runs on a side, too"""
    first, *others = [one.trace for one in runs()]
    for sides in *((first, other) for other in others), (first, first, "--", *others[:2]):
        assert checked("compare", run(STAGGER, "compare", "--json", *sides).stdout)


@pytest.mark.parametrize("option", ["--top=0", "--bcs"])
def test_advice(option):
    """the advice on real runs is as its schema says"""
    for one in runs():
        assert checked("advise", run(STAGGER, "advise", option, "--json", one.trace).stdout)


def test_faults():
    """no schema accepts another field, a field less or a value of another type"""
    for command, path in GOLDEN.values():
        assert not accepted_faults(command, json.loads(path.read_text()))
    faults = accepted_faults("report", runs()[0].report)
    assert set(faults) <= {"no mean_blocked_ns"}


def undescribed(schema):
    """The names of all properties in a schema without a description of their own."""
    for name, part in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if name == "properties":
            yield from (field for field, form in part.items() if "description" not in form)
        if isinstance(part, (dict, list)):
            yield from undescribed(part)


@pytest.mark.parametrize("name", ["report", "compare", "advise", "watch", "types"])
def test_pages(name):
    """each field of a schema has a description, or is defined in the page of its JSON"""
    page = (ROOT / f"docs/{name.replace('types', 'report')}-json.md").read_text()
    schema = json.loads((ROOT / f"docs/schema/{name}.json").read_text())
    assert [field for field in undescribed(schema) if not re.search(rf"\b{field}\b", page)] == []
