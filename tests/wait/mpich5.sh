#!/bin/bash
# MPICH 5's own yield setting, which the library puts into MPICH's environment during its start:
# under a stand-in that reports version 5 and prints the setting that it finds.
. "$(dirname "$0")/../lib/sh.sh"
PRELOAD=$LIB:$PROGRAMS/libmpich5.so

# finds NAME WHEN TEXT: all four ranks print it
finds() { is "4" "$(grep -cx "$2: $3" "$1.out")"; }
# tell NAME NAME=VALUE...: runs with these settings
tell() {
    local name=$1
    shift
    (export "$@" && observe "$name" 4 "$PROGRAMS/between" && exit "$status")
    status=$?
}

tell yield STAGGER_WAIT=yield
check "MPICH 5 is set to yield" all 'is 0 "$status"' 'finds yield start "throttle 1 count [1-9][0-9]*"'
check "... its environment is restored after the start" finds yield end "throttle none count none"

mask=$("$PYTHON" -c 'import os
print(",".join(map(str, sorted(os.sched_getaffinity(0))[:2])))')
case $mask in
*,*)
    LAUNCH=$MPIEXEC
    MPIEXEC=$WORK/mpiexec
    printf '#!/bin/sh\nexec taskset -c %s "%s" "$@"\n' "$mask" "$LAUNCH" >"$MPIEXEC"
    chmod +x "$MPIEXEC"
    tell auto STAGGER_WAIT=auto
    check "it is set to yield with fewer processors than ranks" \
        all 'is 0 "$status"' 'finds auto start "throttle 1 count [1-9][0-9]*"'
    ;;
*) skip "it is set to yield with fewer processors than ranks" "there is one processor" ;;
esac

for words in STAGGER_WAIT=spin STAGGER_WAIT_HOOK=none; do
    tell "$words" STAGGER_WAIT=yield "$words"
    check "with $words it is not set to yield" all 'is 0 "$status"' 'finds "$words" start "throttle none count none"'
done
tell user STAGGER_WAIT=yield MPIR_CVAR_CH4_PROGRESS_THROTTLE=0
check "the user's own setting for MPICH stays" all 'is 0 "$status"' 'finds user start "throttle 0 count none"' \
    'finds user end "throttle 0 count none"'
