#!/usr/bin/python3
"""Prints the trial calls of an OTF2 archive, one per line, by trial, function and number.

    arms.py DIR/traces.otf2 BLOCK

Columns: function of the call site, communicator's size, number of the block, candidate, algorithms that ran,
calls in the block. Exits with 1 if the members of one instance record different candidates or one block
has several.
"""
import re
import sys

import otf2
from otf2.events import Enter

FUNCTION = re.compile(r"^([^ ]+) \(")
ROUTINES = re.compile(r"^MPI_I?(barrier|reduce|allreduce)$", re.IGNORECASE)


def main():
    block_length = int(sys.argv[2])
    instances, blocks, wrong = {}, {}, 0
    with otf2.reader.open(sys.argv[1]) as trace:
        for location, event in trace.events:
            if not isinstance(event, Enter) or not ROUTINES.match(event.region.name):
                continue
            values = {a.name: v for a, v in (event.attributes or {}).items()}
            function = FUNCTION.match(values["call site"])
            name = function.group(1) if function else "?"
            arm = (values.get("trial"), values.get("arm"))
            if arm[0] is None:
                continue
            rank = location._ref & 0xFFFFFFFF
            half = rank % 2 if name == "of_half" else 2
            seen = instances.setdefault((half, values["seq"]), arm)
            if seen != arm:
                print("instance", values["seq"], "has", seen, "and", arm)
                wrong = 1
            block = blocks.setdefault(
                (arm[0], half, values["seq"] // block_length), {"arms": set(), "ran": set(), "calls": 0})
            block["arms"].add(arm[1])
            block["ran"].add(values["algorithm"])
            block["calls"] += 1
    for (trial, half, number), block in sorted(blocks.items()):
        if len(block["arms"]) != 1:
            print("block", number, "has", block["arms"])
            wrong = 1
        print(trial, half, number, ",".join(sorted(block["arms"])), ",".join(sorted(block["ran"])),
              block["calls"])
    return wrong


sys.exit(main())
