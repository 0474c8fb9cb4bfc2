#!/bin/bash
# The causes of lateness, for programs that measure them themselves, with one cause or two: in each of 20 runs the
# report has the known causes, with shares at most 10 points off.
#     why_full.sh [RUNS [MIX...]]: that number of runs, of these mixes
# timeout: 3600
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/report/mixes.bash"
RUNS=${1:-20}
only=" ${*:2} "

# often COMMAND...: the number of runs that succeed; prints the output of the others
often() {
    local run good=0
    for ((run = 0; run < RUNS; run++)); do
        if "$@" >often.out 2>&1; then
            good=$((good + 1))
        else
            cat often.out
        fi
    done
    is "$RUNS" "$good"
}

for mix in "${MIXES[@]}"; do
    name=${mix%% *}
    [ "$only" = "  " ] || [[ "$only" = *" $name "* ]] || continue
    if [ "$name" = read ] && ! reads_from_disk; then
        skip "the mix's causes are found (read)" "files here are in memory"
        continue
    fi
    check "the mix's causes and shares are found in each of $RUNS runs ($name)" often run_mix "$mix" 0.10
done
if make_quota; then
    check "a rank throttled by a quota is found in each of $RUNS runs" often run_held 0.10
    check "a rank throttled by a quota in calls is found in each of $RUNS runs" often run_held 0.10 inheld
else
    skip "a quota's throttling is found" "no control groups can be made here"
fi
