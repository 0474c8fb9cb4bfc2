#!/bin/bash
# The causes of lateness, for programs that measure them themselves (mixed_causes). Extra delays
# from the machine are ignored. why_full.sh runs more mixes, more often, with stricter bounds.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/report/mixes.bash"

TOLERANCE=0.3 # of shares; the greatest is found all the same
# Each cause, alone or with the one that it is taken for.
FEW='twice-the-work faults hog-and-rival read two-back sleep-or-work sleep-then-work in-calls hog-in-calls'
FEW+=' rival-in-calls made-up-for'
for mix in "${MIXES[@]}"; do
    name=${mix%% *}
    [[ " $FEW " == *" $name "* ]] || continue
    if [ "$name" = read ] && ! reads_from_disk; then
        skip "the mix's causes are found (read)" "files here are in memory"
    else
        check "the mix's causes are found ($name)" one_of_five run_mix "$mix" "$TOLERANCE"
    fi
done
if make_quota; then
    check "a rank throttled by a quota is found" one_of_five run_held "$TOLERANCE"
    check "a rank throttled by a quota in calls is found" one_of_five run_held "$TOLERANCE" inheld
else
    skip "a quota's throttling is found" "no control groups can be made here"
fi

# ---- the report -------------------------------------------------------------------------------------
KNOWN=$PROGRAMS/known_causes
# sleeps NAME ROUNDS: in a run the rank that sleeps is late for that, whatever the machine adds
sleeps() {
    rm -rf "$1.trace"
    observe "$1" 2 "$KNOWN" sleep "$2"
    ran_well "$1" && report_json "$1.trace" "$1.json" &&
        is "asleep 1" "$(json "$1.json" 'next("%s %d" % (c["cause"], c["rank"]) for c in d["causes"]["sites"][0]["causes"]
            if not c["cause"].startswith(("preempted", "left later")))')"
}
check "samples with default settings find the cause, too" one_of_five sleeps default 200
export STAGGER_CAUSES=all
check "... with a sample of each call they do, too" one_of_five sleeps sleep 20
check "the parts of lateness add up to the whole" is "True" "$(json sleep.json 'all(
    abs(sum(c["late_ns"] for c in s["causes"]) - s["late_ns"]) <= len(s["causes"])
    for s in d["causes"]["sites"])')"
"$STAGGER" report --all sleep.trace >text
check "the report says why ranks are late" all 'has text "^Why ranks come late to collectives"' \
    'has text "because +rank"' 'has text "^  barrier +main .* (asleep|preempted[a-z ]*|left later) on [01] +[0-9.]+%$"'
"$STAGGER" report --why '*' sleep.trace >all_why
check "--why shows all causes of a site" all 'has all_why "^MPI_Barrier .*sampled instances"' \
    'has all_why "^asleep +it sleeps$"'
"$STAGGER" report --why nowhere sleep.trace >none 2>none.err; nowhere=$?
check "... --why says when there are none" all 'is 1 "$nowhere"' 'empty none'
STAGGER_CAUSES=off observe off 2 "$KNOWN" sleep 5
report_json off.trace off.json
check "without samples there are no causes" is None "$(json off.json 'd["causes"]')"
"$STAGGER" report --why '*' off.trace >none 2>none.err
check "... --why then prints one line" has_lines none.err "^stagger: why is not known" 1
