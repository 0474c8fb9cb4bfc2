#!/bin/bash
# timeout: 3600
# More of explore.sh: 100 000 seeds over all protocols, larger communicators, every order among 3
# and 4 processes, and more comparisons of reduced with unreduced exploration.
. "$(dirname "$0")/../lib/sh.sh"

explore() { timeout 1700 "$STAGGER" sim explore "$@"; }
. "$ROOT/tests/sim/walks.bash"
EVERY=bypass,adaptive,tree,dissemination,pairwise,handoff,srm,bcs
QUICK=bypass,tree,dissemination,pairwise,srm,bcs

check "100 000 seeds have no violation" sound seeds --seeds 100000 --first 1000000
for algo in bypass adaptive tree dissemination pairwise handoff srm bcs; do
    check "20 000 seeds of $algo reach every rare state it has" \
        sound seeds --algo $algo --seeds 20000 --first 2000000
done
check "6000 seeds of up to 64 processes have no violation" \
    sound seeds --seeds 6000 --max-nodes 64 --first 3000000

check "no order of two instances among 3 processes with a fault has a violation" \
    sound three --algo $EVERY --exhaustive --nodes 3
for algo in ${EVERY//,/ }; do
    check "no order of $algo among 4 processes has a violation" sound four --algo $algo --exhaustive --nodes 4
done
check "all orders among 3 processes end the same as the walked ones" all \
    'sound quick --algo $QUICK --exhaustive --nodes 3' 'alike quick --algo $QUICK --nodes 3'
for fault in none loss repeat; do
    check "all orders of adaptive among 3 processes end the same as the walked ones (faults: $fault)" all \
        'sound adaptive --algo adaptive --exhaustive --nodes 3 --faults $fault' \
        'alike adaptive --algo adaptive --nodes 3 --faults $fault'
done
