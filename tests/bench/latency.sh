#!/bin/bash
# stagger-bench latency: prints the requested rows in valid JSON, finds wrong results and refuses
# bad usage. Asserts no figure.
. "$(dirname "$0")/../lib/sh.sh"

BENCH=$BUILD/stagger-bench
export STAGGER_QUIET=1 STAGGER_TRACE=off
quick=(--time 0.02 --scheme loop)

# measure NAME N OPTION...: under the library; NAME.out, NAME.err and $status
measure() { observe "$1" "$2" "$BENCH" latency "${quick[@]}" "${@:3}"; }

# Runs without the library, or with another one; more settings come from the environment.
plainly() {
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" ${other:+-genv LD_PRELOAD "$other"} -n "$2" \
        "$BENCH" "${@:3}" </dev/null >"$1.out" 2>"$1.err"
    status=$?
}

rows() { json "$1.out" '" ".join("%s:%d" % (r["op"], r["bytes"]) for r in d["results"])'; }

# Every figure of every row is positive and within its range.
sound() {
    json "$1.out" '(all(r[k + "_low_us"] <= r[k + "_us"] <= r[k + "_high_us"]
        for r in d["results"] for k in ("ours", "mpich"))
        and all(0 < r["ratio_low"] <= r["ratio"] <= r["ratio_high"]
            and min(r["ours_us"], r["mpich_us"], r["pairs"], r["ours_calls"], r["mpich_calls"]) > 0
            for r in d["results"]))'
}

# ---- rows ------------------------------------------------------------------------------------------
measure all 2 --json --ops reduce,barrier,allreduce --bytes 8,64k
check "a run under the library ends well and prints no message" all 'is 0 "$status"' 'says_nothing all.err'
check "its rows are the requested ones, in the requested order" \
    is "reduce:8 reduce:65536 barrier:0 allreduce:8 allreduce:65536" "$(rows all)"
check "its figures are plausible" is True "$(sound all)"
check "its JSON is version 1 of two ranks with their limits" is "1 2 copy_gbs copy_ns_per_byte fold_ns_per_byte line_ns" \
    "$(json all.out '" ".join([str(d["version"]), str(d["ranks"])] + sorted(d["limits"]))')"
check "it says that the library runs the calls" is "True libstagger.so" \
    "$(json all.out '"%s %s" % (d["intercepted"], d["ours"])')"

measure default 1 --json
check "the default is all collectives with 8 bytes, and one rank is enough" \
    all 'is 0 "$status"' 'is "barrier:0 allreduce:8 reduce:8 bcast:8" "$(rows default)"'
STAGGER_TRACE=otf2 STAGGER_RULES='*=srm' measure three 3 --json --ops reduce,allreduce --bytes 24,4k --root 2 --iterations 3
check "the numbers of ranks and calls and the root can be chosen" all 'is 0 "$status"' 'says_nothing three.err' \
    'is "reduce:24 reduce:4096 allreduce:24 allreduce:4096" "$(rows three)"' \
    'is "{3}" "$(json three.out "{r[k] for r in d[\"results\"] for k in (\"ours_calls\", \"mpich_calls\")}")"'
check "the calls are in the trace" archive_sound three.trace

check "the model has no figures for one rank" is True \
    "$(json default.out 'all(r["model_us"] is None for r in d["results"])')"
[ "$(nproc)" -gt 1 ] && check "the model's figure stands beside each time" is True \
    "$(json all.out 'all(r["model_us"] > 0 for r in d["results"])')"

measure text 2 --ops allreduce --bytes 16,1k
check "the table has the limits and a row for each size" all 'is 0 "$status"' \
    'has text.out "^limits: cache line one way .*, memory copy [0-9.]+ GB/s$"' \
    'has_lines text.out "^allreduce +(16|1024) +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +to [0-9.]+ +[0-9]+ +[0-9]+ x [0-9]+ +[0-9.-]+( +\*)?$" 2' \
    'lacks text.out "^(barrier|reduce) "'

# ---- one rank late ----------------------------------------------------------------------------------
classes() { json "$1.out" '" ".join("%s:%s" % (r["op"], r["class"]) for r in d["late"]["results"])'; }
measure late 3 --json --skew-us 300 --late 1 --iterations 6
check "with one rank late, rows have processor times of the root and of the others" all 'is 0 "$status"' \
    'is "reduce:root reduce:non-root" "$(classes late)"' 'is "" "$(rows late)"' \
    'is "1 300.0 0" "$(json late.out "\"%s %s %s\" % (d[\"late\"][\"rank\"], d[\"late\"][\"skew_us\"], d[\"late\"][\"root\"])")"'
measure late_text 2 --skew-us 300 --iterations 6 --ops barrier,allreduce
check "rows without a root have the processor time of all ranks" all 'is 0 "$status"' \
    'has late_text.out "rank 1 enters 300 us late$"' 'has late_text.out "^barrier +0 all "' \
    'has late_text.out "^allreduce +8 all "'

# ---- without a library, and wrong results -------------------------------------------------------------
other=
plainly alone 2 latency "${quick[@]}" --json
check "without the library one line says so, and the measurement goes on" all 'is 0 "$status"' \
    'has_lines alone.err "" 1' 'has alone.err "^stagger: bench: no library is preloaded: .*mpi"' \
    'is False "$(json alone.out "d[\"intercepted\"]")"' 'is True "$(sound alone)"'

other=$WORK/libwrong.so
check "a library that spoils collectives is built" \
    "$("$ROOT/.ci/find-mpi" cc)" -O2 -fPIC -shared "$ROOT/tests/bench/wrong.c" -o "$other" -ldl

# finds NAME TEXT OPTION...: with the function NAME sabotaged the run fails and prints TEXT
finds() {
    local name=$1 text=$2
    shift 2
    WRONG=$name plainly wrong 2 latency "${quick[@]}" --json "$@"
    check "a wrong $name is found ($*)" all 'is 1 "$status"' 'has_lines wrong.err "^stagger: " 1' \
        'has wrong.err "^stagger: bench: $text gave a wrong result on"' \
        'lacks wrong.out "\"version\""'
}
finds MPI_Allreduce "MPI_Allreduce of 64 bytes" --ops allreduce --bytes 64
finds MPI_Reduce "MPI_Reduce of 8 bytes" --skew-us 100
other=

# ---- usage ------------------------------------------------------------------------------------------
# refuses TEXT ARGUMENT...: exit status 2, and exactly one rank prints the message
refuses() {
    local text=$1
    shift
    plainly usage 2 "$@"
    check "bad usage: $*" all 'is 2 "$status"' 'has_lines usage.err "$text" 1' \
        'lacks usage.out "ranks;"'
}
refuses "a command is missing; there are: latency, cpu, delay"
refuses "'speed' is not a command" speed
refuses "--ops wants some of barrier, allreduce, .*, scan, not 'exscan'" latency --ops exscan
refuses "--bytes wants multiples of 8" latency --bytes 7
refuses "--root wants a rank from 0 to 1, not '2'" latency --root 2
refuses "--late needs --skew-us" latency --late 1
refuses "unrecognized option '--nonsense'" latency --nonsense

plainly help 2 --help
check "--help is one page" all 'is 0 "$status"' 'has_lines help.out "^Usage: stagger-bench" 1'
plainly version 2 --version
check "--version is the project's" all 'is 0 "$status"' \
    'is "stagger-bench $(cat "$ROOT/VERSION")" "$(cat version.out)"'
options=$(grep -oE -- '--[a-z-]+' help.out | sort -u)
check "--help lists the options" within 9 32 "$(wc -l <<<"$options")"
check "the manual has every option" is "" "$(for option in $options; do
    sed 's/\\-/-/g' "$ROOT/docs/stagger-bench.1" | grep -q -- "$option" || echo "$option"
done)"

timeout "$PROGRAM_SECONDS" "$BENCH" noise --time 0.02 </dev/null >/dev/full 2>full.err
status=$?
check "lost output is a failure" all 'is 1 "$status"' \
    'has full.err "bench: the output cannot be written"'
