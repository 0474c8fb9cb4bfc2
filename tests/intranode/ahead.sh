#!/bin/bash
# Within a node, ranks that wait for nobody run ahead of others as far as in stock MPICH: beyond the
# size of the ring of slots.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

export STAGGER_TRACE=stats

# ahead NAME RANKS [HOW CALLS BYTES]...
ahead() {
    local name=$1 ranks=$2
    shift 2
    rm -rf "$name.trace"
    observe "$name" "$ranks" "$PROGRAMS/ahead" "$@"
    is 0 "$status" && has_lines "$name.out" finished "$ranks"
}

for rules in '*=srm' '*=handoff;bcast=srm' ''; do
    export STAGGER_RULES=$rules
    in_turn 3 4 2
    for ranks in "${turn[@]}"; do
        relay=(relay 200 4096)
        [ "$ranks" -gt 2 ] || relay=()
        check "contributors to reduces, roots of broadcasts and ranks that receive them return before the others call \
($ranks ranks, rules '$rules')" ahead "$ranks" "$ranks" reduce 3000 8 reduce 500 2048 bcast 3000 8 bcast 500 4096 \
            bcast 200 8192 "${relay[@]}"
    done
done
unset STAGGER_RULES
check "a communicator may be freed before the others call" ahead freed 3 freed
STAGGER_SLOTS=2 check "a communicator may be freed with fewer slots, too" ahead slots 3 reduce 3000 8

exit $((failures > 0))
