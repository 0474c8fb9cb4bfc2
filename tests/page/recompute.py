"""Recomputes a run's figures from its events alone: recompute.py EVENTS PAGE [OTHER-EVENTS COMPARISON].

EVENTS is the output of tests/lib/check_archive.py --events, PAGE the page as printed by
check_page.py. For barriers, reduces and allreduces on MPI_COMM_WORLD: calls, largest skew, wait and time
blocked by call site, as docs/report-json.md defines them; with a second run, the comparison's means per call.
"""
import collections
import json
import math
import sys

OPERATIONS = {"MPI_Barrier": "barrier", "MPI_Reduce": "reduce", "MPI_Allreduce": "allreduce",
              "MPI_Bcast": "bcast"}


def instances(path):
    """(operation, seq) -> [(begin, end, site, rank, root)]"""
    open_calls, found = {}, collections.defaultdict(list)
    for event in json.load(open(path)):
        location = event["location"]
        if event["kind"] == "Enter" and event["region"] in OPERATIONS:
            open_calls[location] = event, None
        elif event["kind"] == "MpiCollectiveEnd" and event["comm"] == "MPI_COMM_WORLD":
            open_calls[location] = open_calls[location][0], event["root"]
        elif event["kind"] == "Leave" and event["region"] in OPERATIONS:
            enter, root = open_calls.pop(location)
            attributes = enter["attributes"]
            if "seq" not in attributes:  # MPICH's, among all calls of MPI
                continue
            found[OPERATIONS[event["region"]], attributes["seq"]].append(
                (enter["time"], event["time"], attributes["call site"], location, root))
    return found


def waits(operation, calls):
    """A member waits for those that the data flow requires, and for the last that enters before it leaves."""
    for begin, end, _, rank, root in calls:
        needed = {"bcast": [b for b, _, _, r, _ in calls if r == root],
                  "reduce": [b for b, _, _, r, _ in calls if rank == root and r != root]}.get(
                      operation, [b for b, *_ in calls])
        came = max([b for b, *_ in calls if b < end] + [min(b, end) for b in needed], default=begin)
        yield max(0, came - begin)


def sites(path):
    figures = collections.defaultdict(lambda: [0, 0, 0, 0])
    for (operation, _), calls in instances(path).items():
        begins = [begin for begin, *_ in calls]
        for call, wait in zip(calls, waits(operation, calls)):
            of = figures[operation, call[2]]
            of[0] += 1
            of[1] = max(of[1], max(begins) - min(begins))
            of[2] += wait
            of[3] += call[1] - call[0]
    return figures


def text_of(site):
    """FUNCTION FILE:LINE, as the pages show it."""
    function, place = site.split(" (", 1)
    return f"{function} {place.split(')')[0].rsplit('/', 1)[-1]}"


def same(a, b):
    """Pages print non-integers with ten digits."""
    return len(a) == len(b) and all(
        math.isclose(x, y, rel_tol=1e-8) if isinstance(x, float) else x == y for x, y in zip(a, b))


def agree(what, expected, got):
    if len(expected) != len(got) or not expected or not all(map(same, sorted(expected), sorted(got))):
        print(f"{what}:\nexpected {sorted(expected)}\ngot      {sorted(got)}")
        sys.exit(1)


def rows_of(page):
    return json.load(open(page))["tables"]["sites"][1:]


def main():
    first = sites(sys.argv[1])
    agree("the report", [(op, text_of(site), *of) for (op, site), of in first.items()],
          [(row[0]["text"], row[1]["text"], *(int(row[i]["data-v"]) for i in (4, 9, 10, 11)))
           for row in rows_of(sys.argv[2])])
    if len(sys.argv) < 5:
        return
    second = sites(sys.argv[3])
    expected = []
    for (op, site), a in first.items():
        b = second[op, site]
        for name, at in (("blocked", 3), ("wait", 2)):
            expected.append((op, text_of(site), name, a[at] / a[0], b[at] / b[0]))
    agree("the comparison", expected,
          [(row[0]["text"], row[1]["text"], row[4]["text"], float(row[5]["data-v"]),
            float(row[6]["data-v"]))
           for row in rows_of(sys.argv[4]) if row[4]["text"] != "processor"])


if __name__ == "__main__":
    main()
