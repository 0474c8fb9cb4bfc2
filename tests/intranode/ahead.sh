#!/bin/bash
# Within a node, ranks that wait for nobody run ahead of others as far as in stock MPICH: beyond the
# size of the ring of slots.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

export STAGGER_TRACE=stats

# ahead NAME RANKS HOW CALLS BYTES
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
        of="($ranks ranks, rules '$rules')"
        check "a contributor to small reduces returns before the others call $of" ahead reduce "$ranks" reduce 3000 8
        check "... a contributor to reduces of 2 KiB returns before them $of" ahead reduce "$ranks" reduce 500 2048
        check "the root of small broadcasts returns before the others call $of" ahead bcast "$ranks" bcast 3000 8
        check "... the root of broadcasts of 4 KiB returns before them $of" ahead bcast "$ranks" bcast 500 4096
        check "... the root of broadcasts of 8 KiB returns before them $of" ahead bcast "$ranks" bcast 200 8192
        [ "$ranks" -gt 2 ] || continue
        check "a rank that receives broadcasts beside a late rank goes on, too $of" ahead relay "$ranks" relay 200 4096
    done
done
unset STAGGER_RULES
check "a communicator may be freed before the others call" ahead freed 3 freed
STAGGER_SLOTS=2 check "a communicator may be freed with fewer slots, too" ahead slots 3 reduce 3000 8

exit $((failures > 0))
