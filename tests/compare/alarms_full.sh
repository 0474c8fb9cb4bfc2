#!/bin/bash
# long
# timeout: 7200
# The gate on real runs of a solver: 100 comparisons of independent runs of one program, three a side
# in turn, rarely fail (false alarms); a program with a fifth more to do fails if the
# noise allows it. Prints the figures.
. "$(dirname "$0")/../lib/sh.sh"
export STAGGER_TRACE=stats STAGGER_QUIET=1
PAIRS=100

# runs NAME COUNT STEPS...: COUNT runs for each number of steps, in turn, to NAME.STEPS.RUN.trace; a
# second one of the same number is STEPS+
runs() {
    local name=$1 count=$2 i steps
    shift 2
    for ((i = 1; i <= count; i++)); do
        for steps in "$@"; do
            observe "$name.$steps.$i" 2 "$PROGRAMS/cg" -n 96 -t "${steps%+}"
            is 0 "$status" || return 1
        done
    done
}

# gate LIMIT A B: the exit status of the comparison of all runs with these steps; its line is in gate.err
gate() { "$STAGGER" compare --fail-above "$1" ./*."$2".*.trace -- ./*."$3".*.trace >/dev/null 2>gate.err; }

# Counts the comparisons that fail: at 5 %, and at 0 %, where nothing but the interval helps.
compare_alike() {
    local pair status at_5=0 at_0=0
    for ((pair = 1; pair <= PAIRS; pair++)); do
        runs alike 3 6 6+ || return 1
        gate 5% 6 6+
        case $? in 0) ;; 1) at_5=$((at_5 + 1)) && cat gate.err ;; *) cat gate.err; return 1 ;; esac
        has gate.err "compare: (pass|fail): run time" || return 1
        gate 0% 6 6+ || at_0=$((at_0 + 1))
        rm -rf alike.*
    done
    echo "$at_5 of $PAIRS comparisons at 5 % and $at_0 at 0 % are false alarms" >alarms
    within 0 $((PAIRS / 100)) "$at_5"
}

# Runs until the gate fails. On a busy machine it takes more runs than these, and its line says so.
compare_slower() {
    local count=0
    while ((count < 24)); do
        runs "slower$count" 3 20 24 || return 1
        count=$((count + 3))
        gate 5% 20 24
        case $? in 0) ;; 1) break ;; *) return 1 ;; esac
    done
    sed "s/^stagger: compare:/with $count runs per side:/" gate.err >slower
    has gate.err "compare: fail: run time in B" || has gate.err "compare: pass: .*; about [0-9]+ runs per side"
}

check "runs of one program are hardly ever called slower" compare_alike
sed 's/^/# /' alarms
check "a program that has a fifth more to do fails, or needs more runs" compare_slower
sed 's/^/# /' slower
