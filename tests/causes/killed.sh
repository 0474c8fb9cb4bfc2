#!/bin/bash
# Rank 1 is killed between two calls, in its 15th round: the archive made of the logs, and the
# report of logs without events, have the intervals up to then; a truncated log has those before the
# cut.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/dying.bash"

export STAGGER_CAUSES=all
KNOWN=$PROGRAMS/known_causes

# recovered NAME: the archive is sound; writes its intervals to NAME.intervals and its report to
# NAME.json
recovered() {
    "$STAGGER" recover "$1.trace" >"$1.recover" 2>&1 && archive_sound "$1.trace" &&
        "$PYTHON" "$ROOT/tests/causes/intervals.py" "$1.trace/traces.otf2" >"$1.intervals" &&
        report_json "$1.trace" "$1.json" && is True "$(json "$1.json" 'd["partial"]')"
}

observe die 2 "$KNOWN" die 20
check "a rank is killed" all '[ "$status" -ne 0 ]' 'absent die.trace/traces.otf2' '[ -s die.trace/rank-000001.log ]'
cp -r die.trace whole.trace
check "recover makes a sound archive from the logs" recovered die
# One before the first barrier, and two in each of 14 rounds; the interval after the last has not
# ended.
check "the archive has all intervals that had ended" is "29 True" \
    "$(json die.intervals '(lambda count: "%d %s" % (count[1], count[0] in (29, 30)))([sum(i["rank"] == rank for i in d) for rank in (0, 1)])')"
check "... intervals have the rank's activity" is "14" \
    "$(json die.intervals 'sum(i["rank"] == 1 and i["interval"] >= 3000000 and i["voluntary switches"] >= 3 for i in d)')"
check "the report says why ranks came late before the kill" is "1 True" \
    "$(json die.json '(lambda c: "%d %s" % (c["rank"], 1 <= c["instances"] <= 14))(
        max((c for s in d["causes"]["sites"] for c in s["causes"] if c["cause"] == "asleep"), key=lambda c: c["late_ns"]))')"
check "the critical path ends at the end of the run" is True "$(json die.json 'd["critical_path"]["path_ns"] >= 14 * 3000000')"
"$STAGGER" report --html die.html die.trace 2>page.err
check "the run has a page" all 'empty page.err' 'has die.html "Why ranks are late"'

# Truncates the log anywhere, as a full disk does, also within records of intervals. The file of a
# killed rank is longer than its contents.
bytes=$("$PYTHON" -c 'print(len(open("whole.trace/rank-000001.log", "rb").read().rstrip(b"\0")))')
for part in 5 6 7 8 9; do
    cp -r whole.trace "cut$part.trace"
    truncate -s "$((4096 + (bytes - 4096) * part / 10))" "cut$part.trace/rank-000001.log"
    check "a log cut off at $part tenths has the intervals before the cut" all "recovered cut$part" \
        "is True \"\$(json cut$part.intervals 'sum(i[\"rank\"] == 1 for i in d) <= 29')\""
done
check "... a later cut leaves more intervals" is True \
    "$("$PYTHON" -c 'import json
counts = [sum(i["rank"] == 1 for i in json.load(open(f"cut{part}.intervals"))) for part in (5, 6, 7, 8, 9)]
print(counts == sorted(counts) and counts[0] < counts[-1] or counts)')"

STAGGER_TRACE=stats observe sums 2 "$KNOWN" die 20
report_json sums.trace sums.json
check "logs without events have the sums up to the kill" is "[14, 14] True" \
    "$(json sums.json '(lambda rows: "%s %s" % ([r["intervals"] for r in rows], max(r["voluntary_switches"] for r in rows) >= 14 * 3))(
        [r for r in d["intervals"]["rows"] if r["rank"] == 1 and r["intervals"] == 14 and r["until"] is not None])')"
"$STAGGER" report --all sums.trace >sums.text
check "... the report has their table" all 'has sums.text "^between calls +[0-9]+ intervals"' 'has sums.text " (asleep|preempted[a-z ]*) +MPI_Barrier"'

check "nothing of the library is left in /dev/shm" no_shared_memory
