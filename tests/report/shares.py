"""shares.py REPORT.json OUTPUT TOLERANCE KNOWN...: a report has the causes, with their shares, that
mixed_causes measured itself and printed to OUTPUT.

KNOWN: RANK:KIND=WEIGHT, the number of other ranks that wait for the rank's steps of that kind (below 0: the
waiting rank takes the same steps itself, which count against them), or RANK:steps=N, the number of changes
of rank that lead back to it. Causes that the machine adds (preemption, leaving late, MPI calls) count in no
share, unless the kind produces them.
"""
import json
import sys

CPU, RUNNABLE, REST, KERNEL, USER = range(5)
COLUMNS = {"work": {"computing": CPU}, "faults": {"page faults": KERNEL, "computing": USER}, "sleep": {"asleep": REST},
           "read": {"reading or writing": REST, "computing": CPU}, "hog": {"preempted by its threads": RUNNABLE, "computing": CPU},
           "rival": {"preempted by others": RUNNABLE, "computing": CPU},
           "held": {"throttled": RUNNABLE, "computing": CPU}, "inwork": {"busy in calls": CPU},
           "insleep": {"asleep in calls": REST}, "inhog": {"preempted in calls by its threads": RUNNABLE, "busy in calls": CPU},
           "inrival": {"preempted in calls by others": RUNNABLE, "busy in calls": CPU},
           "inheld": {"throttled in calls": RUNNABLE, "busy in calls": CPU}}
# The kernel's part of computing: the program asks the kernel for the time.
ALSO = {"more work": "computing", "slower": "computing", "kernel": "computing"}
MACHINE = {"preempted", "preempted by its threads", "preempted by others", "left later", "calls of MPI", "throttled", "busy in calls", "preempted in calls", "preempted in calls by its threads",
           "preempted in calls by others", "throttled in calls", "asleep in calls"}


def shares(sums):
    total = sum(max(ns, 0) for ns in sums.values())
    return {key: max(ns, 0) / total for key, ns in sums.items()} if total else {}


def add(sums, key, ns):
    sums[key] = sums.get(key, 0) + ns


report, output, tolerance, known = json.load(open(sys.argv[1])), sys.argv[2], float(sys.argv[3]), sys.argv[4:]
measured = {}
for line in open(output):
    words = line.split()
    if len(words) == 6 and words[1] in COLUMNS:
        figures = [int(word) for word in words[2:]]
        measured[words[0], words[1]] = figures + [figures[CPU] - figures[KERNEL]]

expected, steps, causes = {}, {}, set()
for text in known:
    (rank, kind), number = text.split("=")[0].split(":"), int(text.split("=")[1])
    if kind == "steps":
        steps[int(rank)] = number
        continue
    causes |= COLUMNS[kind].keys()
    for cause, column in COLUMNS[kind].items():
        # Work that the waiting rank does itself causes no lateness.
        add(expected, (cause, int(rank) if number > 0 else None), number * measured[rank, kind][column])
for cause in causes:
    less = expected.pop((cause, None), 0)
    for key in expected:
        if key[0] == cause:
            expected[key] += less

found = {}
for site in report["causes"]["sites"]:
    for row in site["causes"]:
        cause = ALSO.get(row["cause"], row["cause"])
        if cause in causes or cause not in MACHINE:
            add(found, (cause, row["rank"]), row["late_ns"])
        if cause in causes and row["rank"] in steps and row["late_ns"] > 0.5 * site["late_ns"]:
            assert row["steps"] == steps.pop(row["rank"]), row

expected, found = shares(expected), shares(found)
for key in sorted(expected.keys() | found.keys(), key=str):
    print("%-20s rank %s: known %5.1f %%, told %5.1f %%" % (
        *map(str, key), 100 * expected.get(key, 0), 100 * found.get(key, 0)))
assert expected and not steps, steps
worst = max(abs(expected.get(key, 0) - found.get(key, 0)) for key in expected.keys() | found.keys())
assert worst <= tolerance, "%.1f points off" % (100 * worst)
