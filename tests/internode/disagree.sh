#!/bin/bash
# long
# Ranks that reach one instance between nodes in different ways: another call site is legal and may
# have its own rule; another operation, size or root is not.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

program=$PROGRAMS/disagree
export STAGGER_CAUSES=off # for smaller archives

# ---- two call sites with two rules in one instance -----------------------------------------------------
for pair in 'adaptive tree' 'pairwise adaptive' 'tree mpich' 'mpich adaptive'; do
    # shellcheck disable=SC2086 # two words
    run_across sites thread 1 "$(line_rules $pair)" 3 "$program" sites 300
    check_sites sites "$pair"
done

# ---- ranks that disagree ---------------------------------------------------------------------------------
disagrees() { # WAY RANKS-PER-NODE RULES [COUNT]
    until_printed "$1.err" '^stagger: ranks of one' \
        run_across "$1" thread "$2" "$3" 3 "$program" "$1" ${4:+"$4"}
}
named='is in MPI_[A-Za-z]+ .*at [a-z_]+ disagree\.c:[0-9]+ #.*, rank [0-2] in (MPI_[A-Za-z]+ .*at [a-z_]+ disagree\.c:[0-9]+ #|another that)'
span=("${SPAN_RULES[0]}" "${SPAN_RULES[2]}" '*=tree')
for each in 1 2; do
    for rules in "${span[@]}"; do
        for way in operation bytes root; do
            disagrees $way $each "$rules"
            check "another $way ends the job ($each a node, $rules)" all \
                'within 1 123 "$status"' "lacks $way.out finished"
            check "the message names both ranks and call sites ($each a node, $rules)" has $way.err \
                "^stagger: ranks of one communicator disagree on a collective: rank [0-2] $named"
        done
        in_turn 1 10000
        for count in "${turn[@]}"; do
            disagrees place $each "$rules" $count
            check "MPI_IN_PLACE on one rank ends the job, and the message names it ($each a node, $rules, $count)" all \
                'within 1 123 "$status"' "lacks place.out finished" \
                'has place.err "^stagger: .* disagree .*bytes in place at [a-z_]+ disagree"'
        done
    done
    in_full || span=('*=tree') # two a node
done

# ---- non-fatal errors --------------------------------------------------------------------------------------
ways=(bcast:10,5 bcast:5,10 allreduce:1,2 allreduce:2,1 reduce:1,2 reduce:2,1 root operation)
for sizes in 3000,10 10,3000; do
    ways+=(bcast:$sizes allreduce:$sizes reduce:$sizes)
done
# nonblocking ones, and other chunk counts, ahead of calls that have begun
ways+=("${ways[@]/#/i}" ibcast:100000,10 iallreduce:10,100000)
turns=0
for rules in '*=adaptive;*=bypass' '*=tree' '*=handoff;*=bypass' '*=srm' '*=bcs(slice=100)'; do
    in_turn '3 1 call' '4 2 jump'
    for run in "${turn[@]}"; do
        read -r ranks each handler <<<"$run"
        run_across errors thread "$each" "$rules" "$ranks" "$PROGRAMS/disagree_errors" "$handler" "${ways[@]}"
        check "when errors are not fatal, the call fails and later calls are right ($rules, $ranks ranks, $each a node, $handler)" \
            all 'is 0 "$status"' 'has_lines errors.out "is done" $ranks' \
            'lacks errors.err disagree'
        # After a return, and after a jump out of the handler.
        [ -z "${STAGGER_TRACE:-}" ] && check "... the archive is sound" archive_sound errors.trace
    done
    [ "$rules" = '*=tree' ] && export STAGGER_TRACE=stats
done

exit $((failures > 0))
