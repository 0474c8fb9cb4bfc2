#!/bin/bash
# The library under an MPICH built with all of its argument checks, beside Debian's: wrong calls
# report the same as without the library, and the calls after an abandoned one still match.
# timeout: 7200
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lib/other_mpich.bash"
. "$ROOT/tests/intercept/wrong_calls.bash"

use_other_mpich "an MPICH with all its checks" checks

in_each_way used alias_reduce alias_reduce_c alias_allreduce alias_allreduce_c alias_ireduce \
    alias_iallreduce alias_iallreduce_c root_reduce root_ireduce null_send null_receive \
    null_send_ireduce bad_operation bad_operation_iallreduce no_operation freed_reduce freed_allreduce \
    freed_iallreduce no_type no_request_ibarrier no_request_ireduce no_request_iallreduce \
    no_request_iallreduce_c
# It does not check counts, and ends in an assertion of its own.
says_the_same handle used count_allreduce

for nodes in 0 1; do
    for call in reduce allreduce reduce_c ireduce iallreduce comm_free delete; do
        for how in throw jump; do
            name=$nodes-$how-$call
            STAGGER_RANKS_PER_NODE=$nodes observe "$name" 2 "$PROGRAMS/left_calls" $how $call deeper
            check "after a wrong $call, left by $how, calls from deeper frames complete" \
                all 'ran_well "$name"' 'archive_agrees "$name.trace" "$name.out"'
        done
    done
done
