"""The report says of each of the run's rules how many calls it decided, or why it decided none. The calls are compared
with those that another reader finds in the archive, the reasons with the run's own lines.
"""
import re
import shutil
import sys

from lib.runs import ROOT, STAGGER, WORK, has, lacks, ran, report, run

RULES = "allreduce@call[-8]=srm;allreduce@call[9-]=handoff;reduce@cal=handoff;reduce=bypass;barrier@*~nosuch=handoff;" \
        "barrier@around=srm;allreduce@fffffff0=srm"


def alternating(rules=RULES, **variables):
    return ran(2, "alternating", "20", STAGGER_RULES=rules, **variables)


def rules_of(of_run):
    return {rule["rule"]: rule for rule in of_run.report["summary"]["rules"]}


def calls_of(of_run):
    """(operation, bytes, function) of each call, read by Python's OTF2."""
    lines = run(sys.executable, ROOT / "tests/intranode/calls.py", of_run.archive).stdout.splitlines()
    return [(words[2][4:].lower(), int(words[3]), words[5]) for words in map(str.split, lines)]


def test_sizes():
    """the calls of rules that divide them by size are counted"""
    rules, calls = rules_of(alternating()), calls_of(alternating())
    small, large = (sum(call[0] == "allreduce" and (call[1] <= 8) == small for call in calls) for small in (True, False))
    assert small > 0 < large
    for text, count in (("allreduce@call[0-8]=srm", small), ("allreduce@call[9-]=handoff", large),
                        ("barrier@around=srm", calls.count(("barrier", 0, "around")))):
        assert rules[text] == {"rule": text, "sites": 1, "calls": count, "at_least": False, "reason": None}


def test_nearest():
    """a rule whose site is misspelt names the most similar site with its operation"""
    assert re.fullmatch(r"matched no reduce; nearest: call alternating\.c:\d+",
                        rules_of(alternating())["reduce@cal=handoff"]["reason"])
    assert rules_of(alternating())["allreduce@fffffff0=srm"]["reason"] == "matched no allreduce"


def test_reasons():
    """other rules that decided nothing have the reason that the run printed"""
    lines = dict(re.findall(r"^stagger: rule (\S+) \(STAGGER_RULES\): (.*)$", alternating().err, re.MULTILINE))
    reasons = {text: rule["reason"] for text, rule in rules_of(alternating()).items() if rule["reason"]}
    assert set(lines) == set(reasons)
    assert [reasons[text] for text in ("reduce=bypass", "barrier~nosuch=handoff")] == \
        ["bypass does not run inside a node, where its calls were", "matched no call"]
    assert all(reasons[text] == lines[text] for text in lines if "matched no " not in reasons[text] or reasons[text] == "matched no call")


def test_statistics():
    """statistics do not contain the sizes of calls"""
    rules, full = rules_of(alternating(STAGGER_TRACE="stats")), rules_of(alternating())
    assert rules["barrier@around=srm"] == full["barrier@around=srm"]
    assert [rules[text]["at_least"] for text in ("allreduce@call[0-8]=srm", "allreduce@call[9-]=handoff")] == [True] * 2


def test_trial():
    """a trial decides before rules, and one whose site is misspelt names the most similar one"""
    of_run = ran(2, "alternating", "20", STAGGER_RULES="allreduce@call=srm;reduce@call=srm",
                 STAGGER_TRIAL="allreduce=srm|handoff;reduce@cal=srm|handoff")
    assert rules_of(of_run)["reduce@call=srm"]["calls"] > 0
    assert "matched no call" in rules_of(of_run)["allreduce@call=srm"]["reason"]
    assert re.fullmatch(r"matched no reduce; nearest: call alternating\.c:\d+",
                        rules_of(of_run)["trial reduce@cal"]["reason"])
    assert "trial allreduce" not in rules_of(of_run)


def test_screen():
    """the first screen lists few rules, and --all lists each"""
    many = "reduce@cal=handoff;" + ";".join(f"allreduce@call[{size}]=srm" for size in range(0, 200))
    of_run = alternating(many)
    screen, everything = (run(STAGGER, "report", *words, of_run.trace).stdout for words in ([], ["--all"]))
    assert len(screen.splitlines()) <= 40 and max(map(len, screen.splitlines())) <= 100
    has(screen, r"^  rules +\S+  matched no \w+", r"^ {24}\d+ more, of which \d+ matched \(--all\)$")
    lacks(everything, r"more, of which")
    has(everything, r" reduce@cal=handoff  matched no reduce; nearest: call alternating\.c:\d+$",
        r" allreduce@call\[16-16\]=srm  matched 1 site, \d+ calls$")


def test_unknown():
    """with a filter, or without the run's configuration, the rules are not known"""
    assert report("--site", "call", alternating().trace)["summary"]["rules"] is None
    bare = WORK / "bare"
    shutil.copytree(alternating().trace, bare)
    (bare / "stagger.conf").unlink()
    assert report(bare)["summary"]["rules"] is None
