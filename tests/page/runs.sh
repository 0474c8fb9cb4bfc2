#!/bin/bash
# Pages of real runs: their figures match those that tests/page/recompute.py recomputes from the
# events, and the last rank is the one that the program makes last.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"
. "$ROOT/tests/page/page.bash"

# events NAME: the archive is sound; writes its events to NAME.events
events() {
    "$PYTHON" "$ROOT/tests/lib/check_archive.py" --events "$1.events" "$1.trace/traces.otf2" \
        >"$1.checks" || { grep -v '^ok' "$1.checks"; return 1; }
}

for name in mpich handoff; do
    STAGGER_RULES="*=$name" observe "$name" 4 "$PROGRAMS/cg" -n 24 -t 1
    check "the solver runs ($name)" all "is 0 \"$status\"" "events $name"
    report_page "$name" "$name.trace"
    check "the page's figures equal those computed from the events ($name)" \
        "$PYTHON" "$ROOT/tests/page/recompute.py" "$name.events" "$name.page"
done
"$STAGGER" compare --html both.html mpich.trace handoff.trace
check "the comparison's figures equal them, too" all 'sound both' \
    '"$PYTHON" "$ROOT/tests/page/recompute.py" mpich.events mpich.page handoff.events both.page'

# Each rank enters the reduce after the next one has left it, so the root, rank 0, is last.
STAGGER_RULES='reduce=handoff' observe chain 4 "$PROGRAMS/arrival" chain 6
report_page chain chain.trace
check "nobody waits for senders that arrived in time, and the last rank is named" all \
    'is 0 "$(in_page chain "d[\"tables\"][\"sites\"][1][10][\"data-v\"]")"' \
    'is "0 100%" "$(in_page chain "d[\"tables\"][\"sites\"][1][13][\"text\"]")"'
check "rank 0 is late, and rank 3 never" is "0 3" "$(in_page chain \
    '"%d %d" % (max(d["data"]["sites"][0]["late"])[1], min(d["data"]["sites"][0]["late"])[1])')"

run_across posts thread 1 '*=adaptive;*=bypass' 3 "$PROGRAMS/posts" mixed
report_page posts posts.trace
check "nonblocking collectives have rows, and charts" all 'sound posts' \
    'says posts "iallreduce"' \
    'within 1 99 "$(in_page posts "sum(s[\"op\"][0] == \"i\" for s in d[\"data\"][\"sites\"])")"'
