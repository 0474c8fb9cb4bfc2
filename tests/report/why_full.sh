#!/bin/bash
# Why ranks come late, of programs that have measured that themselves, one cause or two: in each of 20 runs
# the report's causes are the known ones, and their shares at most 10 points off.
#     why_full.sh [RUNS [MIX...]]: so many, of these
# timeout: 1800
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/report/mixes.bash"
RUNS=${1:-20}
only=" ${*:2} "

# often COMMAND...: how many of the runs succeed; what the others said is printed
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
        skip "its causes are told (read)" "files here are in memory"
        continue
    fi
    check "its causes and shares are told in each of $RUNS runs ($name)" often run_mix "$mix" 0.10
done
if make_quota; then
    check "a rank that a quota holds back is told in each of $RUNS runs" often run_held 0.10
    check "a rank that a quota holds back in calls is told in each of $RUNS runs" often run_held 0.10 inheld
else
    skip "a quota" "no control groups can be made here"
fi
