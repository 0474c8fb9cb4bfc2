#!/bin/bash
# timeout: 14400
# ScaLAPACK's test programs against their outcomes in stock MPICH, as recorded in stock-N-ranks.txt:
# all of them at 2 ranks, with the default rules and each algorithm, within a node and between two,
# and ten at 4 and 6 ranks. "check_full.sh record RANKS" rewrites one file instead of testing.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/scalapack/scalapack.bash"

recorded() { echo "$ROOT/tests/scalapack/stock-$1-ranks.txt"; }
programs() { # RANKS
    if [ "$1" -eq 2 ]; then
        scalapack_programs
    else
        printf '%s\n' $SCALAPACK_TEN_OF_MORE
    fi
}

# against RANKS RULES: every program has the recorded outcome
against() {
    local name rest
    check "every program is recorded at $1 ranks" \
        same <(cut -d' ' -f1 "$(recorded "$1")") <(programs "$1")
    while read -r name rest; do
        check "$name has the same results as in stock MPICH ($1 ranks, rules '$2')" \
            is "$name $rest" "$(STAGGER_RULES=$2 observed "$name" "$1")"
        rm -rf "$name.trace"
    done <"$(recorded "$1")"
}

need_scalapack "ScaLAPACK's programs have the recorded results"
PROGRAM_SECONDS=900
if [ "${1:-}" = record ]; then
    programs "$2" | while read -r name; do stock "$name" "$2"; done >"$WORK/recorded"
    cp "$WORK/recorded" "$(recorded "$2")"
    exit
fi
for rules in '' '*=srm' '*=handoff'; do
    against 2 "$rules"
done
export STAGGER_RANKS_PER_NODE=1 # nodes of their own
against 2 '*=adaptive;*=bypass'
against 2 'barrier=dissemination;allreduce=pairwise;*=tree'
unset STAGGER_RANKS_PER_NODE
for ranks in 4 6; do
    against "$ranks" '*=srm'
    against "$ranks" '*=handoff'
done
