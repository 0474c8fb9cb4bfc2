#!/bin/bash
# The library under an MPICH built for libfabric, beside Debian's, with more ranks than processors:
# ranks yield while they wait, and receive the same as without the library.
# timeout: 7200
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lib/other_mpich.bash"
RANKS=4
PROGRAM_SECONDS=300

use_other_mpich "an MPICH for libfabric" ofi
check "this MPICH uses libfabric" has <(ldd "$mpich/libmpich.so.12") libfabric.so.1

# On at most half as many processors as ranks.
mask=$("$PYTHON" -c 'import os
print(",".join(map(str, sorted(os.sched_getaffinity(0))[:2])))')
LAUNCH=$MPIEXEC
MPIEXEC=$WORK/mpiexec
printf '#!/bin/sh\nexec taskset -c %s "%s" "$@"\n' "$mask" "$LAUNCH" >"$MPIEXEC"
chmod +x "$MPIEXEC"
PRELOAD=$PROGRAMS/libyields.so:$LIB

# yields NAME: the sum over all processes
yields() { awk '/^yields: / { sum += $2 } END { print sum + 0 }' "$1.err"; }
# messages NAME NAME=VALUE...: observes messages only; collectives also yield in other ways.
messages() {
    local name=$1
    shift
    (export "$@" && observe "$name" $RANKS "$PROGRAMS/waits" 50 messages && exit "$status")
    status=$?
}

compare waits $RANKS "$PROGRAMS/waits" 50 messages
check "the program runs without the library" is 0 "$plain_status"
for provider in tcp sockets; do
    messages "$provider" "FI_PROVIDER=$provider" STAGGER_WAIT=yield
    check "with provider $provider it receives the same messages" \
        all 'is 0 "$status"' 'same waits.plain.out "$provider.out"'
    check "... it yields" within 1000 999999999 "$(yields "$provider")"
done
messages auto STAGGER_WAIT=auto
check "it yields when processors are scarce" \
    all 'is 0 "$status"' 'same waits.plain.out auto.out' 'within 1000 999999999 "$(yields auto)"'
messages spin STAGGER_WAIT=spin
check "with STAGGER_WAIT=spin it does not yield" \
    all 'is 0 "$status"' 'same waits.plain.out spin.out' 'within 0 100 "$(yields spin)"'
messages none STAGGER_WAIT=yield STAGGER_WAIT_HOOK=none
check "without the hook it yields between tests" \
    all 'is 0 "$status"' 'same waits.plain.out none.out' 'within 1000 999999999 "$(yields none)"'

compare all $RANKS "$PROGRAMS/waits" 20
for mode in auto yield sleep; do
    STAGGER_WAIT=$mode observe "$mode" $RANKS "$PROGRAMS/waits" 20
    check "collectives have the same results, too ($mode)" all 'is 0 "$status"' 'same all.plain.out "$mode.out"'
done
. "$ROOT/tests/intranode/intranode.bash"
run_by samples mpich $RANKS "$PROGRAMS/samples"
check "reductions have the bits of MPICH" gave samples
observe threads $RANKS "$PROGRAMS/threads"
check "threads with concurrent calls complete" is 0 "$status"

# Its shared memory is MPICH's own, whose turns take one piece of a queue.
for hook in auto none; do
    for case in iprobe_many testsome win_test; do
        STAGGER_TRACE=off STAGGER_WAIT_HOOK=$hook observe behind 2 "$PROGRAMS/behind" barrier 100 $case
        check "behind the library's barrier one call finds an earlier message ($case, hook $hook)" \
            all 'is 0 "$status"' 'is "found always" "$(cat behind.out)"'
    done
done
