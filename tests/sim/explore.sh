#!/bin/bash
# stagger sim explore on the unmodified protocols: a fixed set of seeds, and every order of two
# instances among 2 and 3 processes. explore_full.sh goes further.
. "$(dirname "$0")/../lib/sh.sh"

explore() { timeout "$PROGRAM_SECONDS" "$STAGGER" sim explore "$@"; }
EVERY=bypass,adaptive,tree,dissemination,pairwise,handoff,srm,bcs
QUICK=bypass,tree,dissemination,pairwise,srm,bcs

. "$ROOT/tests/sim/walks.bash"

# ---- the protocols -----------------------------------------------------------------------------
check "10 000 seeds have no violation and reach every rare state" sound seeds --seeds 10000
check "a network without faults has no violation" sound calm --seeds 2000 --faults none
check "larger communicators have no violation" sound large --seeds 400 --max-nodes 40 --first 1000000
check "no order of two instances among 2 processes with a fault has a violation" \
    sound two --algo $EVERY --exhaustive --nodes 2
check "no order among 3 processes with a fault has a violation" sound three --algo $QUICK --exhaustive --nodes 3
check "no order of adaptive has a violation when timers are in time" \
    sound adaptive --algo adaptive --exhaustive --nodes 3 --faults loss,repeat
check "the walk covered the orders of every protocol" all \
    'for algo in ${EVERY//,/ }; do has two.out "^$algo .* 2 nodes .* [0-9]+ states" || exit; done'

# ---- reduction of equivalent orders ------------------------------------------------------------
check "all orders among 2 processes end the same as the walked ones" alike two --algo $EVERY --nodes 2

# ---- the same seed, the same history -----------------------------------------------------------
history_of() { sed -n 's/.*; history //p' "$1"; }
told() { explore --seeds 500 "$@" >told.out && history_of told.out; }
once=$(told) again=$(told) others=$(told --first 2)
check "the same seeds again have the same history" all '[ -n "$once" ]' 'is "$once" "$again"'
check "other seeds have another history" [ "$once" != "$others" ]
check "a seed's steps are shown on request" all \
    'sound trace --algo bypass --first 7 --seeds 1 --trace' 'has trace.out "calls reduce #1"'

# ---- bad usage ---------------------------------------------------------------------------------
refused() {
    local words=$1
    shift
    explore "$@" >refused.out 2>refused.err
    is 2 $? && empty refused.out && has refused.err "explore: $words"
}
check "an unknown protocol is refused" refused "--algo: no such protocol: 'nonsense'" --algo nonsense
check "an unknown fault is refused" refused "--faults: no such fault: 'fire'" --faults loss,fire
check "too many processes are refused" refused '--max-nodes wants' --max-nodes 65
check "no seeds are refused" refused '--seeds wants' --seeds 0
check "an unknown cut is refused" refused "--only does not know 'nodes=x'" --only nodes=x
check "too many processes for every order are refused" refused '--nodes wants' --nodes 5
