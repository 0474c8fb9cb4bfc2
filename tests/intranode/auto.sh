#!/bin/bash
# The algorithm `auto` in running programs: all ranks run the same algorithm in each call, with
# stock's bits; the report has what they learn, in a form that works as rules.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/trial/trial.bash"

# alike NAME: writes NAME.ran
alike() { "$PYTHON" "$ROOT/tests/intranode/alike.py" "$1.trace/traces.otf2" >"$1.ran" && [ -s "$1.ran" ]; }
# ran NAME OPERATION: the algorithms that ran it on all ranks
ran() { awk -v operation="$2" '$1 == "world" && $2 == operation { print $3 }' "$1.ran" | xargs; }
learned() { json "$1.json" "sorted({p['rule'].split('~')[0] for p in d['learned']})" | tr -d "[],'"; }

for ranks in 2 3 4; do
    STAGGER_RULES="*=auto(block=2,hold=16)" tried "on-$ranks" "$ranks" 100
    check "$ranks learning ranks have stock's results" like_stock "on-$ranks" "$ranks" 100
    check "... they run the same algorithm in each instance, from other call sites too" alike "on-$ranks"
done
check "learning ranks try all algorithms inside a node" all 'is "handoff mpich srm" "$(ran on-2 allreduce)"' \
    'is "mpich srm" "$(ran on-2 bcast)"' 'is "handoff mpich srm" "$(ran on-2 reduce)"'
check "... the archives are sound" all "archive_agrees on-2.trace on-2.out" "archive_sound on-2.trace"
report_json on-2.trace on-2.json
check "the report lists the learned rules of each operation" is "allreduce bcast reduce" "$(learned on-2)"
# Learned from at least five rounds of two calls.
check "... each learned rule has the cost of each algorithm" is "0" \
    "$(json on-2.json "sum(len(p['arms']) < 2 or p['calls'] < 10 or p['learnings'] < 1 for p in d['learned'])")"
"$STAGGER" report --all on-2.trace >on-2.txt
check "... the text has the costs, too" is 3 "$(grep -c '^  [a-z]*~MPI_COMM_WORLD(2)\[0-64\] ' on-2.txt)"
check "compare and advise read such a run" all '"$STAGGER" compare on-2.trace on-2.trace >compare.txt' \
    '"$STAGGER" advise on-2.trace >advise.txt'

# ---- as rules --------------------------------------------------------------------------------------------
"$STAGGER" report --rules on-2.trace >rules
check "report --rules prints the learned rules, one a line" is 3 \
    "$(grep -c '^[a-z]*~MPI_COMM_WORLD(2)\[0-64\]=[a-z]*\((form=[a-z]*)\)\?$' rules)"
STAGGER_RULES=$(cat rules) tried fixed 2 100
learnt() { sed -n "s/^$1~.*]=\([a-z]*\).*/\1/p" rules; }
check "... STAGGER_RULES takes them, and each call runs by the learned rule" all 'like_stock fixed 2 100' \
    'alike fixed' 'is "$(learnt allreduce)" "$(ran fixed allreduce)"' \
    'is "$(learnt bcast)" "$(ran fixed bcast)"' 'is "$(learnt reduce)" "$(ran fixed reduce)"'
"$STAGGER" report --rules fixed.trace >none 2>none.err
status=$?
check "a run without auto has no learned rules, and report says so" all 'is "1" "$status"' 'is "" "$(cat none)"' \
    'is 1 "$(grep -c "nothing was learned" none.err)"'
STAGGER_TRACE=stats STAGGER_RULES="*=auto(block=2)" tried stats 2 100
check "statistics have the learned rules, too" is "allreduce bcast reduce" \
    "$("$STAGGER" report --rules stats.trace | sed 's/~.*//' | sort | xargs)"

# ---- places ----------------------------------------------------------------------------------------------
# from_one and from_rest are one instance: the first rank to arrive decides whether the call counts
# for learning.
STAGGER_RULES="allreduce@common=auto(block=2); allreduce@from_one=auto(block=2); allreduce[0-32]=auto(block=3)" \
    tried places 3 100
check "ranks that call from a site with auto and from one without it run the same algorithm" all \
    'like_stock places 3 100' 'alike places'
report_json places.trace places.json
check "a learned rule keeps its call site and bytes" all \
    'grep -q "^allreduce@common~MPI_COMM_WORLD(3)\[0-64\]=" <("$STAGGER" report --rules places.trace)' \
    'grep -q "^allreduce~MPI_COMM_WORLD(3)\[0-32\]=" <("$STAGGER" report --rules places.trace)'
STAGGER_TRIAL="allreduce@common=auto(block=2)|mpich" STAGGER_TRIAL_BLOCK=4 tried trial 2 100
check "auto may be a candidate of a trial" all 'like_stock trial 2 100' 'arms trial 4'
check "nonblocking calls are MPICH's" all \
    'STAGGER_RULES="*=auto(block=2)" tried posts 2 30 posts' 'like_stock posts 2 30 posts'
STAGGER_RULES="*=auto(where=between);*=handoff" tried between 2 20
check "a rule for ranks on several nodes does not apply inside one" all 'like_stock between 2 20' \
    'alike between' 'is "handoff" "$(ran between allreduce)"'
