#!/bin/bash
# timeout: 4000
# Broadcasts, blocking or not, between two and three machines by RDMA: every byte, in all protocols
# that take them (between_users_full.sh covers the rest).
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/broadcasts.bash"
. "$ROOT/tests/lab/between.bash"
lab_test "broadcasts between machines" -n 3 -c 2 -m 1536 -t 3900
export STAGGER_VERBS_MEMORY=1g PROGRAM_SECONDS=900

for case in '2 1 thread' '2 2 signal' '3 1 signal'; do
    read -r hosts each mode <<<"$case"
    for algorithm in bypass 'bypass(eager=8192)' 'tree(shape=fibonacci)' srm 'srm(chunk=1)'; do
        broadcasts_give "$algorithm" "$mode" $((hosts * each)) "$each"
        check "... RDMA carries them" by_rdma results
        later_give "$algorithm" "$mode" $((hosts * each)) "$each"
        check "... RDMA carries them" by_rdma later
    done
done

exit $((failures > 0))
