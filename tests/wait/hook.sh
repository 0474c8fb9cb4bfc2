#!/bin/bash
# MPICH's waits yield the processor if there are fewer processors than ranks: counts the waiting
# rank's yields and sleeps meanwhile.
. "$(dirname "$0")/../lib/sh.sh"

waiting='recv ssend sendrecv probe wait waitall scatter alltoall dup split fence lock unlock'
export STAGGER_TRACE=off

# waits NAME RANKS ARGUMENT...: runs on the first processor only; counts in NAME.out
waits() {
    local name=$1 ranks=$2
    shift 2
    MPIEXEC="$WORK/on_one" observe "$name" "$ranks" "$PROGRAMS/late_waits" "$@"
    is 0 "$status" || cat "$name.err"
}
first_processor=$("$PYTHON" -c 'import os; print(min(os.sched_getaffinity(0)))')
printf '#!/bin/sh\nexec taskset -c %s "%s" "$@"\n' "$first_processor" "$MPIEXEC" >on_one
chmod +x on_one

# counts NAME CALL: "YIELDS SLEEPS"
counts() { sed -n "s/^$2 yields=\([0-9]*\) sleeps=\([0-9]*\)$/\1 \2/p" "$1.out"; }
yielded() { local c; c=$(counts "$1" "$2"); [ "${c% *}" -gt 0 ] || { echo "$2: $c"; return 1; }; }
slept() { local c; c=$(counts "$1" "$2"); [ "${c#* }" -gt 0 ] || { echo "$2: $c"; return 1; }; }
none() { is "$2: 0 0" "$2: $(counts "$1" "$2")"; }

# Without a hook only messages and collectives take another path, in loops of tests.
"$STAGGER" info >info.out
unreached='split fence lock unlock tests'
! has info.out '^ +waiting: hook ' >hook.out || unreached=
# reached CALL...: prints the calls in which this MPICH's waits can be hooked; one line names the
# others
reached() {
    local call
    for call in "$@"; do
        case " $unreached " in
        *" $call "*) skip "$call: a waiting rank yields its processor" "$(sed -n 's/.*waiting: //p' info.out)" >&2 ;;
        *) echo "$call" ;;
        esac
    done
}

# shellcheck disable=SC2086 # words
sleeping=$(reached $waiting) testing=$(reached tests)
# shellcheck disable=SC2086
waits auto 2 sleeps $sleeping yields $testing works errno
for call in $sleeping; do
    if [ "$call" = unlock ] && has auto.out '^unlock did not wait$' >/dev/null; then
        skip "unlock: a rank that waits on a shared processor sleeps" "an unlock of this MPICH has nothing to wait for"
    else
        check "$call: a rank that waits on a shared processor sleeps" slept auto "$call"
    fi
done
for call in $testing; do
    check "MPI_Test in a loop yields, and does not sleep" \
        all 'yielded auto tests' 'is 0 "$(counts auto tests | cut -d" " -f2)"'
done
check "MPI_Test between pieces of work neither yields nor sleeps" none auto works
check "errno is unchanged" has auto.out '^errno stays$'

# shellcheck disable=SC2086
STAGGER_WAIT=spin waits spin 2 $waiting tests works
# yields_alone CALL: MPICH itself yields the processor in it, even without the library
yields_alone() {
    # shellcheck disable=SC2086
    [ -e alone.out ] || MPIEXEC="$WORK/on_one" plain 2 "$PROGRAMS/late_waits" $waiting >alone.out 2>alone.err
    yielded alone "$1"
}
for call in $waiting tests works; do
    sentence="$call: with STAGGER_WAIT=spin ranks do not yield"
    if ! none spin "$call" >spin.none && yields_alone "$call" >alone.none; then
        skip "$sentence" "this MPICH yields without the library, too"
    else
        check "$sentence" none spin "$call"
    fi
done

yielding=$(reached recv fence alltoall)
# shellcheck disable=SC2086
STAGGER_WAIT=yield waits yield 3 yields $yielding
for call in $yielding; do
    check "$call: with STAGGER_WAIT=yield ranks only yield" \
        all "yielded yield $call" "is 0 \"\$(counts yield $call | cut -d' ' -f2)\""
done

waits threads 2 threads yields recv scatter
for call in recv scatter; do
    check "$call: with MPI_THREAD_MULTIPLE nobody sleeps, as MPICH may hold its lock" \
        all "yielded threads $call" "is 0 \"\$(counts threads $call | cut -d' ' -f2)\""
done

asking=$(reached recv fence)
# shellcheck disable=SC2086
STAGGER_WAIT=sleep observe asked 2 "$PROGRAMS/late_waits" sleeps $asking
for call in $asking; do
    check "$call: with STAGGER_WAIT=sleep ranks sleep even with a processor each" slept asked "$call"
done

STAGGER_WAIT=sleep observe abort 3 "$PROGRAMS/late_waits" abort
check "MPI_Abort ends sleeping ranks with its status" is 9 "$status"

# UCX driven by another program: its yields come to 9.
LD_PRELOAD=$LIB "$PYTHON" -c 'import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
print([library.second_ucx_turn() for _ in range(3)])' "$PROGRAMS/libsecond_ucx.so" >second.out 2>second.err
check "the hook works with a program's own UCX" all "is 0 $?" 'has second.out "^\[9, 9, 9\]$"'
