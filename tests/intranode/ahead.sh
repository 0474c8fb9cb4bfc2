#!/bin/bash
# Within a node, ranks that wait for nobody run ahead of others as far as in stock MPICH: beyond the
# size of the ring of slots.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

PROGRAM_SECONDS=60
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
    for ranks in 2 3 4; do
        of="($ranks ranks, rules '$rules')"
        check "a contributor to small reduces goes on $of" ahead reduce "$ranks" reduce 3000 8
        check "... and to those of 2 KiB $of" ahead reduce "$ranks" reduce 500 2048
        check "the root of small broadcasts goes on $of" ahead bcast "$ranks" bcast 3000 8
        check "... and of 4 KiB, $of" ahead bcast "$ranks" bcast 500 4096
        check "... and of 8 KiB, $of" ahead bcast "$ranks" bcast 200 8192
        [ "$ranks" -gt 2 ] || continue
        check "so does a rank that takes them, beside one that is late $of" ahead relay "$ranks" relay 200 4096
    done
done
unset STAGGER_RULES
check "a communicator may be freed by then" ahead freed 3 freed
STAGGER_SLOTS=2 check "with fewer slots, too" ahead slots 3 reduce 3000 8

exit $((failures > 0))
