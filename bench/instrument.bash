# Sourced by bench/bench.sh: writes the measuring instrument's figures of this machine and of
# stagger on it to $OUT/instrument, with plots, for bench/goals.py. Uses MPIEXEC, BUILD, WORK and
# OUT; a failed run sets status.
# shellcheck shell=bash disable=SC2034,SC2154
INSTRUMENT=$OUT/instrument
mkdir "$INSTRUMENT"
LAUNCHES=3
INSTRUMENT_RUN_S=40 # a run that takes longer has failed

# instrument NAME RANKS COMMAND OPTION...: runs it under the library, and draws a figure
instrument() {
    local name=$1 ranks=$2
    shift 2
    if ! STAGGER_TRACE=off STAGGER_QUIET=1 timeout --kill-after=5 "$INSTRUMENT_RUN_S" \
        "$MPIEXEC" -genv LD_PRELOAD "$BUILD/libstagger.so" -n "$ranks" "$BUILD/stagger-bench" "$@" --json \
        --samples --plot "$INSTRUMENT/$name.svg" </dev/null >"$INSTRUMENT/$name.json" 2>"$WORK/err"; then
        echo "bench: the run '$name' failed, or took more than $INSTRUMENT_RUN_S s:" >&2
        cat "$WORK/err" >&2
        rm -f "$INSTRUMENT/$name.json"
        status=1
    fi
}

instrument clock 4 clock --each --time 2
instrument noise 2 noise --time 2
for ((launch = 1; launch <= LAUNCHES; launch++)); do
    instrument "latency.$launch" 2 latency --bytes 8,64k --time 1
done
instrument skewed 4 latency --ops allreduce --arrival exponential --skew-us 200,1000 --time 0.7
instrument overlap 2 overlap --ops allreduce --bytes 64k --test-bytes 0,4k --time 0.5
STAGGER_RANKS_PER_NODE=1 instrument delay 4 delay --ops barrier --algorithms adaptive,tree \
    --arrival linear --late-us 200,1000 --time 0.7
if ! "$BUILD/stagger" bench-merge --json "$INSTRUMENT"/latency.*.json >"$INSTRUMENT/latency.json"; then
    rm -f "$INSTRUMENT/latency.json"
    status=1
fi
