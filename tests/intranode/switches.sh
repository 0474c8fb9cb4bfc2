#!/bin/bash
# A rank that waits beside many others on its processor sleeps until it can go on: however many there
# are, a call costs each of them a constant number of context switches.
. "$(dirname "$0")/../lib/sh.sh"

CALLS=200

# few_switches OPERATION RANKS: in switches.out. Besides two in a call, a rank that is away from its
# processor for long may wake by its timer: after 250 us for each rank of the processor.
few_switches() {
    awk -v operation="$1" -v ranks="$2" '
        $1 == operation && $2 == ranks {
            found = 1
            each = $4 / ranks
            limit = 2 * $3 + $5 / (0.25 * ranks) + 20
            if (each > limit) print each " switches, at most " limit ": " $0
            exit
        }
        END { exit !found || each > limit }' switches.out
}

# root_runs_ahead RANKS: in switches.out.
root_runs_ahead() {
    awk -v ranks="$1" '
        $1 == "stream" && $2 == ranks { own = $6; found = 1 }
        END { if (own > 10) print own " switches of the root"; exit !found || own > 10 }' switches.out
}

processor=$(taskset -cp $$ | sed 's/.*[: ]\([0-9]*\).*/\1/')
case $(cat /proc/sys/kernel/sched_autogroup_enabled 2>/dev/null) in
1) ;;
*)
    skip "a call of many ranks costs each of them few switches" "the kernel has no autogroups: ranks yield"
    exit
    ;;
esac
export STAGGER_TRACE=off
for ranks in 16 40; do
    PROGRAM_SECONDS=100 observe switches "$ranks" taskset -c "$processor" "$PROGRAMS/switches" $CALLS
    check "$ranks ranks on one processor compute right results" is 0 "$status"
    for operation in barrier allreduce reduce bcast; do
        check "each of them makes few context switches in $operation" few_switches "$operation" "$ranks"
    done
    check "a root of $ranks ranks whose readers are far behind makes few context switches" root_runs_ahead "$ranks"
done
