#!/bin/bash
# timeout: 3600
# More of explore.sh: 100 000 seeds over all protocols, larger communicators, 4 processes in every
# order.
. "$(dirname "$0")/../lib/sh.sh"

explore() { timeout 1700 "$STAGGER" sim explore "$@"; }
sound() {
    explore "$@" >out 2>err && empty err && lacks out violation: && return
    tail -n 60 out
    return 1
}

check "100 000 seeds have no violation" sound --seeds 100000 --first 1000000
for algo in bypass adaptive tree dissemination pairwise handoff; do
    check "20 000 seeds of $algo reach every rare state it has" \
        sound --algo $algo --seeds 20000 --first 2000000
done
check "6000 seeds of up to 64 processes have no violation" \
    sound --seeds 6000 --max-nodes 64 --first 3000000
for fault in loss repeat; do
    check "no order of adaptive among 3 with one fault ($fault) has one" \
        sound --algo adaptive --exhaustive --nodes 3 --faults $fault
done
for algo in bypass tree dissemination pairwise handoff; do
    check "no order of $algo among 4 has one" \
        sound --algo $algo --exhaustive --nodes 4 --faults none
done
