#!/bin/bash
# Wrong calls report the same with the library as without: the text, the handler's calls and the
# exit status. Leaves out counts, which MPICH does not check; checked_full.sh repeats it with
# another MPICH.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intercept/wrong_calls.bash"

for call in alias_allreduce alias_iallreduce; do
    for handler in fatal return handle; do
        says_the_same $handler $call used 0 1
    done
done
says_the_same fatal alias_reduce world 0 1
for call in met_reduce met_bcast; do
    says_the_same return $call used 0 1
    says_the_same handle $call world 0 1
done
says_the_same return lone_reduce used 0 1
for call in alias_reduce alias_reduce_c alias_allreduce_c alias_ireduce alias_iallreduce_c \
    root_reduce root_ireduce null_send bad_operation no_operation freed_reduce freed_allreduce \
    freed_iallreduce no_request_ibarrier no_request_iallreduce unready_pair unready_columns \
    unready_pair_ibcast unready_columns_ibcast; do
    says_the_same handle $call used 0 1
done
in_full || exit 0
for call in alias_reduce alias_reduce_c alias_allreduce alias_allreduce_c alias_ireduce \
    alias_iallreduce alias_iallreduce_c root_reduce root_ireduce null_send null_receive \
    null_send_ireduce bad_operation bad_operation_iallreduce no_operation no_type \
    no_request_ibarrier no_request_ireduce no_request_iallreduce no_request_iallreduce_c; do
    for handler in fatal return handle; do
        says_the_same $handler $call first 0 1
        says_the_same $handler $call world 0 1
    done
done
