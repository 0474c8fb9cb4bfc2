# Sourced by the tests of slices: checks the output of `stagger report --slices --csv`.
# shellcheck shell=bash

# one_epoch CSV SLICE_NS: the slices of all communicators begin within their own period, counted
# from one moment on one clock. The node that sends strobes, the only one with global times, numbers
# slices by its own clock; begins are on the archive's.
one_epoch() {
    "$PYTHON" -c '
import csv, sys
slice_ns, bound_ns = int(sys.argv[2]), 1000000
since = {}
for row in csv.DictReader(open(sys.argv[1])):
    if row["gtts_ns"] != "":
        since.setdefault(row["comm"], []).append(int(row["begin_ns"]) - int(row["slice"]) * slice_ns)
least, most = (f(f(times) for times in since.values()) for f in (min, max))
assert len(since) >= 2 and all(len(times) >= 10 for times in since.values()), since
assert most - least <= slice_ns + bound_ns, (least, most)' "$@"
}
