#!/bin/bash
# Ranks that exchange a large operand wait for each other in each chunk. Each of these waits counts
# separately: while all ranks make progress, none of them sleeps.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

CALLS=20 # of 123 chunks, or 391, on 2 ranks

# few_sleep FORM BYTES: few of the waits slept, in one of five runs. A rank that is away from its
# processor for 12 ms makes the other sleep a hundred times.
few_sleep() {
    local sleeps left
    for _ in 1 2 3 4 5; do
        rm -rf large.trace
        STAGGER_RULES="*=srm(form=$1)" STAGGER_TRACE=stats observe large 2 "$PROGRAMS/large" "$2" $CALLS
        gave large || return
        report_json large.trace large.json
        sleeps=$(json large.json 'd["waiting"]["sleeps"]')
        left=$(awk '/^left / { n += $2 } END { print n }' large.out)
        [ "$sleeps" -gt $((25 * 2 * CALLS + 100 * left)) ] || return 0
        echo "$sleeps sleeps, $left switches"
    done
    return 1
}

if [ "$(nproc)" -lt 2 ]; then
    skip "ranks that make progress do not sleep" "they share a processor here"
    exit
fi
check "ranks that make progress do not sleep (chunks)" few_sleep chunks 16000000
check "ranks that make progress do not sleep (climb)" few_sleep climb 1600000
