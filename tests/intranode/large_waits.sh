#!/bin/bash
# Ranks that exchange a large operand wait for each other in each of its chunks. Each of these waits is one of
# its own: while all go on, none of them sleeps.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

CALLS=20 # of 123 chunks, on 2 ranks

# A rank that something else keeps from its processor has the other one sleep: one run of several is enough.
few_sleep() {
    local sleeps
    for _ in 1 2 3 4 5; do
        rm -rf large.trace
        STAGGER_RULES="*=srm(form=$1)" STAGGER_TRACE=stats observe large 2 "$PROGRAMS/large" 16000000 $CALLS
        gave large || return
        report_json large.trace large.json
        sleeps=$(json large.json 'd["waiting"]["sleeps"]')
        [ "$sleeps" -gt $((5 * 2 * CALLS)) ] || return 0
        echo "$sleeps sleeps"
    done
    return 1
}

if [ "$(nproc)" -lt 2 ]; then
    skip "ranks that go on do not sleep" "they share a processor here"
else
    for form in chunks climb; do
        check "ranks that go on do not sleep ($form)" few_sleep $form
    done
fi

exit $((failures > 0))
