#!/bin/bash
# A run reports rules that decided nothing: no call matched them, or their algorithm does not run
# where the matching calls were. It reports no other rules.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

# said RULES: the lines about rules when the solver runs with them on one machine
said() {
    STAGGER_RULES=$1 mpirun_stagger 2 "$PROGRAMS/cg" -n 8 >run.out 2>run.err ||
        { cat run.err; return 1; }
    sed -n 's/^stagger: rule //p' run.err
}

check "a rule that matches no call is reported with its origin" \
    is "allreduce@nosuch.c:7=srm (STAGGER_RULES): matched no call" \
    "$(said 'allreduce@nosuch.c:7=srm; allreduce=mpich')"
check "a rule for an unknown communicator is reported" \
    is "allreduce~nosuch=srm (STAGGER_RULES): matched no call" "$(said 'allreduce~nosuch=srm')"
check "a rule that gets no call behind an earlier rule is reported" \
    is "allreduce@dot=mpich (STAGGER_RULES): matched no call, or only calls that earlier rules decided" \
    "$(said 'allreduce=srm; allreduce@dot=mpich' | sed 's/:[0-9]*=/=/')"
check "an algorithm that does not run inside a node is reported" \
    is "reduce=bypass (STAGGER_RULES): bypass does not run inside a node, where its calls were" \
    "$(said 'reduce=bypass')"
check "it is not reported when another rule decides its calls" is "" "$(said 'reduce=bypass; reduce=handoff')"
check "rules that decide calls are not reported" is "" \
    "$(said 'allreduce~WORLD(2)=srm; reduce@residual*=handoff; barrier=mpich')"
check "rules for an uncalled operation without a call site are not reported" is "" "$(said '*=mpich; barrier=srm')"
check "a rule with the function as the report prints it matches" is "" \
    "$(said "$("$STAGGER" report "$(ls -d stagger-cg-* | head -1)" >text && awk '$1 == "allreduce" { print $1 "@" $2 " " $3 "~" $4 "=srm"; exit }' text)")"
STAGGER_SITE_00000007=mpich mpirun_stagger 2 "$PROGRAMS/cg" -n 8 >run.out 2>run.err
check "a rule for an unknown call site is reported" has run.err \
    '^stagger: rule \*@00000007=mpich \(STAGGER_SITE_00000007\): matched no call$'
many=$(for i in $(seq 30); do printf 'allreduce@f%d=mpich;' "$i"; done)
check "the first 20 of many rules are reported, with the number of others" all \
    'is 20 "$(said "$many" | grep -c "matched no call$")"' \
    'has run.err "^stagger: 10 more rules matched no call$"'
