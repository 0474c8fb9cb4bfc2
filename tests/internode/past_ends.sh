#!/bin/bash
# Collectives survive the wraparound of instance numbers: messages and words in shared memory hold
# 24, 32 or 36 bits of one. STAGGER_COUNT_FROM starts shortly before the wrap.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

# Enough rounds to take each protocol, and the broadcasts of one, past the wrap, from far enough
# before it that the words of signatures are already in use (internode/communicator.h).
rounds=300
goes_on() {
    local of=$1 end=$2 rules=$3
    STAGGER_COUNT_FROM=$((end - 280)) STAGGER_TRACE=off \
        run_across ends poll "$of" "$rules" 2 "$PROGRAMS/past_ends" "$rounds"
    all 'is 0 "$status"' 'has_lines ends.out finished 2'
}

for end in 24 32; do
    for rules in 'bcast=bypass;*=adaptive;*=bypass' '*=tree' 'barrier=dissemination;*=pairwise;*=bypass' \
        '*=handoff' '*=srm' '*=bcs(slice=200)'; do
        check "results are right past 2^$end instances between nodes ($rules)" \
            goes_on 1 $((1 << end)) "$rules"
    done
done
for end in 32 36; do
    for rules in '*=handoff' '*=srm'; do
        check "results are right past 2^$end instances inside a node ($rules)" \
            goes_on 0 $((1 << end)) "$rules"
    done
done
