#!/bin/bash
# The archive's Cartesian topologies are those that MPI reports to the program: sizes, periods, and
# the coordinates of each rank; for grids, copies and parts of them, smaller than the world, one
# rank wide.
. "$(dirname "$0")/../lib/sh.sh"

# topologies DIR: those of the archive, one line each, in the program's format.
topologies() {
    "$PYTHON" - "$1/traces.otf2" <<'END'
import sys
import otf2
from otf2.enums import CartPeriodicity

with otf2.reader.open(sys.argv[1]) as trace:
    for topology in trace.definitions.cart_topologies:
        places = {c.rank: c.coordinates for c in trace.definitions.cart_coordinates if c.topology == topology}
        print("topology", topology.communicator.name, topology.communicator.group.members[0]._ref,
              "x".join(str(d.size) for d in topology.dimensions),
              "".join("01"[d.cart_periodicity == CartPeriodicity.TRUE] for d in topology.dimensions),
              *(",".join(map(str, places[rank])) for rank in sorted(places)))
END
}

number=0
while read -r ranks sizes periods lines; do
    name=grid$((number++))
    observe $name "$ranks" "$PROGRAMS/topologies" "$sizes" "$periods"
    check "$ranks ranks create grids of $sizes" all 'ran_well $name' 'has_lines $name.out "^topology " $lines'
    check "... the archive is sound" archive_sound $name.trace
    check "... the archive describes them as MPI does" \
        same <(grep '^topology' $name.out | LC_ALL=C sort) <(topologies $name.trace | LC_ALL=C sort)
done <<'END'
4 2x2 10 4
3 2x1 01 4
4 1x4 11 3
6 3x1x2 011 5
END

observe without 2 "$PROGRAMS/cg" 16
check "the archive of a program without grids has no grids" all 'archive_sound without.trace' 'is "" "$(topologies without.trace)"'

observe neighbors 4 "$PROGRAMS/known_neighbors"
check "topologies and neighborhood collectives obey the rules" all 'ran_well neighbors' \
    'archive_sound neighbors.trace'
check "every planted fault is found" \
    "$PYTHON" "$ROOT/tests/trace/topology_faults.py" neighbors.trace/traces.otf2
