#!/bin/bash
# stagger bench-merge pools launches; stagger arrivals prints the arrivals that stagger-bench
# replays.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/bench/bench.bash"

# launch FILE SAMPLES OTHERS [RANKS]: writes a benchmark output with one row
launch() {
    cat >"$1" <<END
{"version": 1, "command": "latency", "ranks": ${4:-2}, "results": [
 {"op": "barrier", "bytes": 0, "algorithm": "rules", "vs": "mpich", "samples_us": [$2], "vs_samples_us": [$3]},
 {"op": "reduce", "bytes": 8, "algorithm": "rules", "samples_us": [7]}]}
END
}
launch one.json "10, 12, 11" "20, 24, 22"
launch two.json "20, 21, 22, 23, 24" "10, 10.5, 11, 11.5, 12"
launch three.json "5" "10"

"$STAGGER" bench-merge --json one.json two.json three.json >merged.json 2>merged.err
check "launches are pooled row by row" all "is 0 $?" 'empty merged.err' \
    'is "barrier:3:9 reduce:3:3" "$(json merged.json "\" \".join(\"%s:%d:%d\" % (r[\"op\"], r[\"launches\"], r[\"samples\"]) for r in d[\"results\"])")"'
check "pooled samples and launches' medians are the expected ones" \
    is "20.0 5.0 24.0 11.0 5.0 22.0" "$(json merged.json '" ".join(str(d["results"][0][k]) for k in
        ("pooled_us", "pooled_min_us", "pooled_max_us", "launch_us", "launch_low_us", "launch_high_us"))')"
check "the ratio is computed from pairs" is "2.0 0.5" \
    "$(json merged.json '" ".join(str(d["results"][0][k]) for k in ("ratio", "ratio_low"))')"
"$STAGGER" bench-merge one.json two.json >merged.txt
check "the table has one line for each row" all "is 0 $?" 'has_lines merged.txt "^(barrier|reduce) .* 2 +[0-9]+ " 2'

launch other.json 1 1 4
"$STAGGER" bench-merge one.json other.json >bad.out 2>bad.err
check "runs with different numbers of ranks are refused" all "is 1 $?" 'has_lines bad.err "other.json and the first file differ in ranks" 1'
echo '{"version": 1, "command": "latency", "ranks": 2, "results": [{"op": "barrier"}]}' >plain.json
"$STAGGER" bench-merge plain.json >bad.out 2>bad.err
check "runs without samples are refused" all "is 1 $?" 'has_lines bad.err "no samples in these files" 1'
echo 'not JSON' >text.json
"$STAGGER" bench-merge text.json >bad.out 2>bad.err
check "files that are not JSON are refused" all "is 1 $?" 'has_lines bad.err "text.json: " 1'
"$STAGGER" bench-merge /nowhere/at/all.json >bad.out 2>bad.err
check "missing files are refused" all "is 1 $?" 'has_lines bad.err "" 1'
"$STAGGER" bench-merge >bad.out 2>bad.err
check "no files are bad usage" all "is 2 $?" 'has_lines bad.err "FILE is missing" 1'

for launch in 1 2; do
    observe run$launch 2 "$BENCH" latency --json --samples --time 0.05 --iterations 3 --ops barrier
done
"$STAGGER" bench-merge --json run1.out run2.out >runs.json
check "output of stagger-bench can be pooled" all "is 0 $?" \
    'is "2 6" "$(json runs.json "\"%d %d\" % (d[\"results\"][0][\"launches\"], d[\"results\"][0][\"samples\"])")"'

# ---- arrivals ------------------------------------------------------------------------------------------
STAGGER_TRACE=otf2 observe program 3 "$PROGRAMS/calls" 20
"$STAGGER" arrivals program.trace >arrivals.txt 2>arrivals.err
check "a run's arrivals are lines with a number for each rank, the first of them 0" all "is 0 $?" 'empty arrivals.err' \
    'has arrivals.txt "^# .*: arrivals of 3 ranks"' 'has arrivals.txt "^[0-9.]+ [0-9.]+ [0-9.]+$"' \
    'is "" "$(grep -v "^#" arrivals.txt | grep -vE "(^| )0\.000( |$)" || true)"'
"$STAGGER" arrivals --op barrier program.trace >barriers.txt 2>barriers.err
status=$?
check "one operation has fewer arrivals than all operations" \
    test "$(grep -vc '^#' barriers.txt)" -lt "$(grep -vc '^#' arrivals.txt)"
observe replayed 3 "$BENCH" latency --json --time 0.05 --iterations 2 --ops allreduce --arrival trace:arrivals.txt
check "stagger-bench replays the arrivals" all 'is 0 "$status"' \
    'is trace "$(json replayed.out "d[\"results\"][0][\"arrival\"]")"'
plainly ranks 2 latency --arrival trace:arrivals.txt
check "arrivals are replayed only on the same number of ranks" all 'is 2 "$status"' 'has_lines ranks.err "arrivals.txt: line [0-9]+ does not have 2 numbers" 1'
"$STAGGER" arrivals --op scan program.trace >bad.out 2>bad.err
check "an invalid operation is bad usage" all "is 2 $?" "has_lines bad.err \"not 'scan'\" 1"
"$STAGGER" arrivals /nowhere >bad.out 2>bad.err
check "a missing directory is reported" all "is 1 $?" 'has_lines bad.err "/nowhere" 1'
