#!/bin/bash
# With many ranks on a node, groups of ranks, set by a rule, give the same bits as the climb.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

groups=(4)
! in_full || groups=(2 4 8)
for group in "${groups[@]}"; do
    run_by samples "srm(form=groups,group=$group)" 9 "$PROGRAMS/samples"
    check "groups of $group among 9 ranks give MPICH's own bits, in samples" gave samples
done
if in_full; then
    run_by results 'srm(form=groups)' 11 "$PROGRAMS/results"
    if [ "$status" -eq 77 ]; then
        skip "groups give the reference's bits at 11 ranks" "not MPICH 4.0.2"
    else
        check "groups give the reference's bits at 11 ranks" gave results
        calls_of results
        check "srm ran every call with data" ran_by results srm call
        check "the archive has exactly the calls that were made" archive_agrees results.trace results.out
    fi
fi
STAGGER_RULES='*=srm(form=groups,group=4)' observe calls 9 "$PROGRAMS/calls" 20
check "barriers, reduces and allreduces of a program run in groups" all 'ran_well calls' \
    'archive_agrees calls.trace calls.out'
for wrong in 'group=1' 'group=65' 'form=group'; do
    check "srm($wrong) is refused in one line" \
        has_lines <(STAGGER_RULES="*=srm($wrong)" "$STAGGER" info 2>&1 >/dev/null) '^stagger: STAGGER_RULES' 1
done
