"""Compares all MPI calls on a page with the report's JSON: check_calls.py PAGE JSON.

PAGE is the page as printed by check_page.py. Functions and call sites have the same calls, times and bytes
in the same order, and pairs of ranks the same messages and bytes; each cell of the map is the sum of its
pairs.
"""
import collections
import json
import sys


def agree(what, expected, got):
    if list(expected) != list(got) or not expected:
        print(f"{what}:\nexpected {str(expected)[:1000]}\ngot      {str(got)[:1000]}")
        sys.exit(1)


def figures(row, columns):
    return rounded(float(row[i]["data-v"]) for i in columns)


def rounded(values):
    """Means in JSON have nine digits."""
    return tuple(float("%.8g" % value) for value in values)


def functions(page, report):
    rows = page["tables"]["functions"][1:]
    agree("functions",
          [(f["mpi_function"], rounded((f["calls"], f["time_ns"], f["time_ns"], f["mean_ns"], f["min_ns"],
                                        f["max_ns"], f["sent_bytes"], f["received_bytes"])))
           for f in report["functions"]],
          [(row[0]["text"], figures(row, (1, 2, 3, 4, 5, 6, 8, 9))) for row in rows])


def call_sites(page, report):
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    for call in report["calls"]:
        of = sums[call["mpi_function"], call["id"]]
        for i, name in enumerate(("calls", "time_ns", "sent_bytes", "received_bytes")):
            of[i] += call[name]
    rows = page["tables"]["calls"][1:]
    most = sorted(((key[0], rounded(of)) for key, of in sums.items()), key=lambda one: -one[1][1])
    got = [(row[0]["text"], figures(row, (3, 4, -2, -1))) for row in rows]
    agree("times of call sites", [of[1] for _, of in most[:len(got)]], [of[1] for _, of in got])
    left = collections.Counter(most)
    left.subtract(got)
    agree("call sites", [True], [min(left.values()) >= 0])


def messages(page, report):
    data, pairs = page["data"]["messages"], report["messages"]["pairs"]
    blocks, group = data["blocks"], data["group"]
    expected, got, at = collections.defaultdict(lambda: [0, 0]), {}, -1
    for pair in pairs:
        cell = expected[pair["from"] // group * blocks + pair["to"] // group]
        cell[0] += pair["messages"]
        cell[1] += pair["bytes"]
    for skipped, count, size in zip(*[iter(data["cells"])] * 3):
        at += skipped + 1
        got[at] = [count, size]
    agree("cells of the map", sorted(expected.items()), sorted(got.items()))
    rows = page["tables"]["pairs"][1:]
    agree("pairs of ranks",
          [rounded((p["from"], p["to"], p["messages"], p["bytes"])) for p in pairs[:len(rows)]],
          [figures(row, range(4)) for row in rows])


def main():
    page, report = (json.load(open(path)) for path in sys.argv[1:])
    functions(page, report)
    call_sites(page, report)
    messages(page, report)


if __name__ == "__main__":
    main()
