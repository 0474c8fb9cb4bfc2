#!/usr/bin/python3
"""Prints the algorithms that ran the calls of tests/mpi/trial, by operation, from an archive.

    alike.py DIR/traces.otf2

Lines: communicator (world, even or odd ranks), operation, algorithms and their number of calls. Skips the
first call of a communicator. Exits with 1 if members of an instance ran different algorithms.
"""
import re
import sys

import otf2
from otf2.events import Enter

FUNCTION = re.compile(r"^([^ ]+) \(")
ROUTINES = re.compile(r"^MPI_(barrier|reduce|allreduce|bcast)$", re.IGNORECASE)


def main():
    instances, counts, wrong = {}, {}, 0
    with otf2.reader.open(sys.argv[1]) as trace:
        for location, event in trace.events:
            routine = isinstance(event, Enter) and ROUTINES.match(event.region.name)
            if not routine:
                continue
            values = {a.name: v for a, v in (event.attributes or {}).items()}
            function = FUNCTION.match(values["call site"])
            half = function is not None and function.group(1) == "of_half"
            comm = ("even", "odd")[(location._ref & 0xFFFFFFFF) % 2] if half else "world"
            if values["seq"] == 0:
                continue
            ran = instances.setdefault((comm, values["seq"]), values["algorithm"])
            if ran != values["algorithm"]:
                print("instance", values["seq"], "ran by", ran, "and", values["algorithm"])
                wrong = 1
            key = (comm, routine.group(1).lower(), ran)
            counts[key] = counts.get(key, 0) + 1
    for key in sorted(counts):
        print(*key, counts[key])
    return wrong


sys.exit(main())
