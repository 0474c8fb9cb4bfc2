#!/bin/bash
# Ranks that exchange a large operand wait for each other in each chunk. Each of these waits counts
# separately: while all ranks make progress, none of them sleeps.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

CALLS=20 # of 123 chunks, or 3907, on 2 ranks

# look FORM: runs it until few of its waits slept. disturbed: the processors were busy with other
# work each time.
look() {
    local sleeps left
    disturbed=yes few=no
    for _ in 1 2 3 4 5; do
        rm -rf large.trace
        STAGGER_RULES="*=srm(form=$1)" STAGGER_TRACE=stats observe large 2 "$PROGRAMS/large" 16000000 $CALLS
        gave large || { disturbed=no; return; }
        report_json large.trace large.json
        sleeps=$(json large.json 'd["waiting"]["sleeps"]')
        left=$(awk '/^left / { n += $2 } END { print n }' large.out)
        echo "$sleeps sleeps, $left switches"
        [ "$left" -gt 40 ] || disturbed=no
        [ "$sleeps" -gt $((25 * 2 * CALLS)) ] || { disturbed=no few=yes; return; }
    done
}
few_slept() { [ $few = yes ] || { cat looks; return 1; }; }

for form in chunks climb; do
    if [ "$(nproc)" -lt 2 ]; then
        skip "ranks that make progress do not sleep ($form)" "they share a processor here"
        continue
    fi
    look $form >looks 2>&1
    if [ $disturbed = yes ]; then
        skip "ranks that make progress do not sleep ($form)" "something else had their processors in each run"
    else
        check "ranks that make progress do not sleep ($form)" few_slept
    fi
done

exit $((failures > 0))
