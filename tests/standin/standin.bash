# Sourced after sh.sh: runs programs on simulated machines (machine.c) with simulated adapters
# (device.c). Memory and clocks are those of this machine.
# shellcheck shell=bash
# shellcheck disable=SC2034 # variables are for the scripts

STANDIN_PRELOAD=$BUILD/standin/machine.so:$BUILD/standin/libstagger.so
STANDIN_MACHINES=2

# standin_test ABOUT: skips the script if adapters cannot be simulated.
standin_test() {
    [ -e "$BUILD/standin/libstagger-verbs.so" ] && return
    skip "$1" "no libibverbs to build with"
    exit 0
}

# across NAME RANKS PROGRAM ARG...: runs it under the library; archive directory NAME.trace,
# NAME.out, NAME.err, $status.
across() {
    local name=$1 ranks=$2
    shift 2
    rm -rf wire "$name.trace"
    STANDIN=$WORK/wire STANDIN_MACHINES=$STANDIN_MACHINES STAGGER_DIR=$WORK/$name.trace \
        timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" -n "$ranks" -genv LD_PRELOAD "$STANDIN_PRELOAD" "$@" \
        </dev/null >"$name.out" 2>"$name.err"
    status=$?
    return 0
}
