#!/bin/bash
# long
# timeout: 7200
# The gate on real runs. 100 comparisons of independent runs of a solver, three a side in turn, hardly
# ever fail (false alarms). A program whose steps take 15 % longer fails if the noise allows it. Prints
# the figures.
. "$(dirname "$0")/../lib/sh.sh"
export STAGGER_TRACE=stats STAGGER_QUIET=1
PAIRS=100

solver() { observe "$1" 2 "$PROGRAMS/cg" -n 96 -t 6; }
steps() { observe "$1" 2 "$PROGRAMS/mixed_causes" 300 - 1:sleep:5000; }
longer_steps() { observe "$1" 2 "$PROGRAMS/mixed_causes" 300 - 1:sleep:5750; }

# runs COUNT NAME A B: so many more runs of each side in turn, to a.NAME.*.trace and b.NAME.*.trace
runs() {
    local i
    for ((i = 1; i <= $1; i++)); do
        "$3" "a.$2.$i" && is 0 "$status" && "$4" "b.$2.$i" && is 0 "$status" || return 1
    done
}

# gate LIMIT: the exit status of the comparison of all runs, whose line is in gate.err
gate() { "$STAGGER" compare --fail-above "$1" a.*.trace -- b.*.trace >/dev/null 2>gate.err; }

# Counts the comparisons that fail: at 5 %, and at 0 %, where nothing but the interval helps.
compare_alike() {
    local pair at_5=0 at_0=0
    for ((pair = 1; pair <= PAIRS; pair++)); do
        runs 3 "$pair" solver solver || return 1
        gate 5%
        case $? in 0) ;; 1) at_5=$((at_5 + 1)) ;; *) cat gate.err; return 1 ;; esac
        has gate.err "compare: (pass|fail): run time" || return 1
        gate 0% || at_0=$((at_0 + 1))
        rm -rf a.* b.*
    done
    echo "$at_5 of $PAIRS comparisons at 5 % and $at_0 at 0 % are false alarms" >alarms
    within 0 $((PAIRS / 100)) "$at_5"
}

# Runs until the gate fails. On a busy machine it takes more runs than these, and its line says so.
compare_slower() {
    local count
    for ((count = 3; count <= 24; count += 3)); do
        runs 3 "$count" steps longer_steps || return 1
        gate 5%
        case $? in 0) ;; 1) break ;; *) cat gate.err; return 1 ;; esac
    done
    sed "s/^stagger: compare:/with $(ls -d a.*.trace | wc -l) runs per side:/" gate.err >slower
    has gate.err "compare: fail: run time in B" || has gate.err "compare: pass: .*; about [0-9]+ runs per side"
}

check "runs of one program are hardly ever called slower" compare_alike
sed 's/^/# /' alarms
check "a program whose steps take 15 % longer fails, or needs more runs" compare_slower
sed 's/^/# /' slower
