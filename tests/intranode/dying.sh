#!/bin/bash
# A rank is killed at any moment, repeatedly: the job ends with a status from the launcher, and
# leaves nothing behind.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/intranode/dying.bash"

runs=50
export STAGGER_QUIET=1
for ((seed = 1; seed <= runs; seed++)); do
    algorithms=(srm handoff)
    run_by dying "${algorithms[seed % 2]}" $((2 + seed % 3)) "$PROGRAMS/dying" "$seed" "$WORK"
    tally_death dying "$seed" 10
done
check "a job with a killed rank ends and fails, $runs times" ends_and_fails
check "its logs make a sound archive" within 1 "$runs" "$recovered"
check "none of its processes is left" all_gone
check "nothing of the library is left in /dev/shm" no_shared_memory
