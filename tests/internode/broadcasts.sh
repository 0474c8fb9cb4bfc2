#!/bin/bash
# Broadcasts between virtual nodes: bytes, types that differ between ranks, roots, modes; late inner
# nodes, and ranks that disagree. broadcasts_full.sh covers all numbers of ranks, runahead.sh roots
# that run ahead.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"
. "$ROOT/tests/internode/broadcasts.bash"

compare results 2 "$program" results
check "stock MPICH gives the expected bytes" is 0 "$plain_status"
broadcasts_give 'bcs(slice=100,strobe=always,restart=slice,progress=thread)' thread 4 1
check "archives are sound" archive_sound results.trace
export STAGGER_TRACE=stats
broadcasts_give 'bcs(slice=100,microphases=separate,budget=4,degree=2)' signal 4 3
broadcasts_give bypass signal 4 2
broadcasts_give tree poll 3 2
broadcasts_give 'tree(shape=fibonacci)' thread 4 1
broadcasts_give srm thread 3 1
broadcasts_give 'srm(chunk=1)' signal 4 3

run_across rules thread 1 'bcast@broadcast_bytes=mpich;bcast@broadcast_form=tree' 2 "$program" results
check "a rule applies to one call site" all 'gave rules' 'is tree "$(algorithms rules broadcast_form)"' \
    'is mpich "$(algorithms rules broadcast_bytes)"'
run_across builtin thread 1 '' 2 "$program" results
check "without a rule, broadcasts are MPICH's" all 'gave builtin' 'is mpich "$(algorithms builtin broadcast_form)"'

for algorithm in bypass tree srm; do
    run_across threads thread 1 "bcast=$algorithm;*=adaptive" 3 "$program" threads
    check "threads broadcast at the same time, each on a communicator of its own ($algorithm)" all \
        'gave threads' 'is $algorithm "$(algorithms threads broadcast_bytes)"'
done
# 13 children: more messages than fit without slots for each.
for run in 'tree(degree=13) 14' 'bypass 9' 'srm 9'; do
    read -r algorithm ranks <<<"$run"
    run_across served thread 1 "bcast=$algorithm;*=mpich" "$ranks" "$PROGRAMS/ahead" served 20 1000
    check "a root that sends to many ranks serves MPICH and has slots for each ($algorithm)" gave served
done
for mode in signal thread; do
    run_across passed $mode 1 'bcast=bypass;*=adaptive' 4 "$program" passed
    check "an inner node that has not called passes the data on ($mode)" gave passed
done

compare later 2 "$program" later
check "stock MPICH gives the expected bytes of consecutive broadcasts" is 0 "$plain_status"
later_give bypass thread 3 1
later_give tree signal 3 2
later_give bypass poll 3 1
unset STAGGER_TRACE
later_give srm thread 3 2
check "archives of consecutive broadcasts are sound" archive_sound later.trace

for what in bytes root operation; do
    until_printed wrong.err '^stagger: .* disagree' \
        run_across wrong thread 1 '*=bypass;*=adaptive' 3 "$program" wrong "$what"
    check "ranks that disagree end the job (another $what)" all 'within 1 123 "$status"' 'lacks wrong.out compared'
    check "... the message names a call site" has wrong.err \
        '^stagger: ranks of one communicator disagree on a collective: .* at disagree broadcasts\.c:[0-9]+ #'
done

exit $((failures > 0))
