#!/bin/bash
# Wrong calls report the same with the library as without: the text, the handler's calls and the
# exit status. Leaves out counts, which MPICH does not check; checked_full.sh repeats it with
# another MPICH.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intercept/wrong_calls.bash"

says_the_same fatal used alias_allreduce
says_the_same fatal used alias_iallreduce
says_the_same fatal world alias_reduce
says_the_same return used alias_allreduce alias_iallreduce met_reduce met_bcast lone_reduce
says_the_same handle world met_reduce met_bcast
says_the_same handle used alias_reduce alias_reduce_c alias_allreduce alias_allreduce_c alias_ireduce \
    alias_iallreduce alias_iallreduce_c root_reduce root_ireduce null_send bad_operation no_operation \
    freed_reduce freed_allreduce freed_iallreduce no_request_ibarrier no_request_iallreduce \
    no_index_waitany unready_pair unready_columns unready_pair_ibcast unready_columns_ibcast
in_full || exit 0
for comm in first world; do
    in_each_way $comm alias_reduce alias_reduce_c alias_allreduce alias_allreduce_c alias_ireduce \
        alias_iallreduce alias_iallreduce_c root_reduce root_ireduce null_send null_receive \
        null_send_ireduce bad_operation bad_operation_iallreduce no_operation no_type \
        no_request_ibarrier no_request_ireduce no_request_iallreduce no_request_iallreduce_c
done
