#!/bin/bash
# Trials in running programs: all ranks choose the same candidate, results match stock's to the last
# bit, a line names omitted candidates that cannot run, and the report finds the winner if there is
# one.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/trial/trial.bash"

# ---- inside a node ---------------------------------------------------------------------------------------
agree_on 2 40
agree_on 3 15
check "a round has every candidate once" is "3" \
    "$(order on-2 allreduce@common | sed -n '1,3s/.*://p' | sort -u | wc -l)"
report_json on-2.trace on-2.json
report_json on-3.trace on-3.json
check "each trial is in the report, with every call" is "80 80 80 80" \
    "$(for place in common own_operation; do of_trial on-2.json "allreduce@$place" calls; done | xargs) $(
        of_trial on-2.json reduce@to_root calls) $(of_trial on-2.json bcast@told calls)"
# A communicator of one rank has no trial; MPICH runs a communicator's first call.
check "... communicators of one rank have no trial" is 28 "$(of_trial on-3.json allreduce@of_half calls)"
check "only a trial's call sites are in its report" is "0" \
    "$(json on-2.json 'sum(t["function"] not in ("common", "to_root", "from_one", "from_rest", "of_half",
        "own_operation", "told") for t in d["trials"])')"

STAGGER_TRIAL="allreduce@common=mpich|handoff|srm" STAGGER_TRIAL_BLOCK=10 STAGGER_TRIAL_SEED=2 \
    tried other-seed 2 40
arms other-seed 10 >other.log
check "another seed has another order" all 'is 0 "$status"' \
    '! is "$(order on-2 allreduce@common)" "$(order other-seed allreduce@common)" >/dev/null'

# ---- between nodes ---------------------------------------------------------------------------------------
export STAGGER_RANKS_PER_NODE=1
STAGGER_TRIAL="allreduce@common=adaptive|pairwise|tree; reduce@to_root=bypass|tree|handoff; allreduce@posted=adaptive|pairwise|mpich; allreduce@own_operation=bcs|mpich; bcast@told=bypass|tree; bcast@told_later=bypass|srm" \
    STAGGER_TRIAL_BLOCK=8 tried between 3 20 posts
check "between nodes exact results equal stock's, posts included" like_stock between 3 20 posts
check "... all ranks choose the same candidates" arms between 8
report_json between.trace between.json
check "... trials of posts leave MPICH's own out, and a line says so" all \
    'says between "trial allreduce@posted: mpich skips nonblocking calls, which MPICH would run unrecorded"' \
    'is "adaptive pairwise iallreduce" "$(json between.json "[\" \".join(sorted(a[\"arm\"] for a in t[\"arms\"])
        + [t[\"op\"]]) for t in d[\"trials\"] if t[\"trial\"] == \"allreduce@posted\"][0]")"'
check "... broadcasts have trials, posted ones too" is "bcast 60 bypass tree, ibcast 60 bypass srm" \
    "$(json between.json '", ".join("%s %d %s" % (t["op"], sum(a["calls"] for a in t["arms"]),
        " ".join(sorted(a["arm"] for a in t["arms"]))) for t in d["trials"] if "told" in t["trial"])')"
# Time slices leave user-defined operations to MPICH.
check "calls that an algorithm declines are counted for that algorithm" is \
    "$(json between.json '[a["calls"] for t in d["trials"] for a in t["arms"]
        if t["trial"] == "allreduce@own_operation" and a["arm"] == "bcs"][0]') 0" \
    "$(json between.json '" ".join(str(a["declined_calls"]) for t in d["trials"]
        if t["trial"] == "allreduce@own_operation" for a in sorted(t["arms"], key=lambda a: a["arm"]))')"

# A rank waits for a late child under one algorithm, but not under the other.
# A busy machine delays the others, too, but not in every run.
for _ in {1..10}; do
    STAGGER_TRIAL="reduce@to_root=tree(degree=1)|bypass" STAGGER_TRIAL_BLOCK=4 tried late 4 52 late
    report_json late.trace late.json
    [ "$(verdict late.json)" != "bypass winner" ] || break
done
check "the algorithm wins that does not wait for the late rank" is "bypass winner" \
    "$(verdict late.json)"
"$STAGGER" report --all late.trace >late.txt
check "... the report names the winner" all 'has late.txt "^trial reduce@to_root$"' \
    'has late.txt "^  time blocked: bypass wins$"'
"$STAGGER" report --html late.html late.trace
check "... the page names it, and is sound" all \
    '"$PYTHON" "$ROOT/tests/page/check_page.py" late.html >late.page' \
    'has <(json late.page "d[\"text\"]") "By time blocked *bypass *wins\."'
unset STAGGER_RANKS_PER_NODE

# ---- invalid trials --------------------------------------------------------------------------------------
# Two of these do not parse; one has only one candidate left here, one loses a candidate, one
# matches no call.
STAGGER_TRIAL="allreduce@common=srm|bypass; allreduce@common=srm; reduce@to_root=bypass|srm; reduce@to_root=bypass|mpich|srm; reduce@nowhere=mpich|srm" \
    STAGGER_TRIAL_BLOCK=4 tried bad 2 12
check "invalid trials are skipped with one line each, and the program runs" all \
    'like_stock bad 2 12' \
    'says bad "STAGGER_TRIAL, column 22: bypass does not support allreduce, only reduce, bcast; ignored: allreduce@common=srm|bypass"' \
    'says bad "and a second algorithm, found the end; ignored: allreduce@common=srm"'
check "an algorithm that does not run inside a node is skipped with one line" all \
    'is 2 "$(grep -c "trial reduce@to_root: bypass does not run inside a node and is skipped there" bad.err)"' \
    'arms bad 4' 'is "mpich srm" "$(awk "{ print \$4 }" bad.arms | sort -u | xargs)"'
check "a trial with one remaining algorithm is skipped" \
    says bad "trial reduce@to_root: fewer than two algorithms remain inside a node; rules decide there"
check "a trial that matches no call is reported at the end" \
    says bad "trial reduce@nowhere: no call matches"
STAGGER_TRIAL_BLOCK=1 STAGGER_TRIAL_SEED=x tried worse 2 2
check "invalid blocks and seeds are reported in one line each" all 'like_stock worse 2 2' \
    'says worse "STAGGER_TRIAL_BLOCK=1 is ignored: expected a number from 2 to 1000000"' \
    'says worse "STAGGER_TRIAL_SEED=x is ignored: expected a number from 0 to 1000000000"'

STAGGER_TRACE=stats STAGGER_TRIAL="allreduce@common=handoff|srm" STAGGER_TRIAL_BLOCK=4 tried stats 2 12
report_json stats.trace stats.json
"$STAGGER" report --all stats.trace >stats.txt
check "statistics have each candidate's calls and mean, and no winner" all 'like_stock stats 2 12' \
    'is 24 "$(of_trial stats.json allreduce@common calls)"' \
    'is unknown "$(json stats.json "d[\"trials\"][0][\"blocked\"][\"verdict\"]")"' \
    'has stats.txt "no events were recorded: there are means of all calls"'
