#!/bin/bash
# The ranks' activity before calls, from logs without events, for programs where it is known. As in
# why.sh, extra delays from the machine are ignored.
. "$(dirname "$0")/../lib/sh.sh"

export STAGGER_CAUSES=all STAGGER_TRACE=stats
KNOWN=$PROGRAMS/known_causes

# between NAME WHAT HOLDS: runs it and writes its report to NAME.json, in which the expression HOLDS;
# again, if not: the machine may delay either rank. of NAME EXPRESSION: evaluates with r, the row of
# rank 1's intervals between the two barriers of a round, in which it works, and `other`, rank 0's row.
between() { one_of_five once_between "$@"; }
once_between() {
    rm -rf "$1.trace"
    observe "$1" 2 "$KNOWN" "$2" 20
    ran_well "$1" && report_json "$1.trace" "$1.json" && is True "$(of "$1" "$3")"
}
of() {
    json "$1.json" "(lambda by: (lambda r, other: $2)(by[1], by[0]))({r['rank']: r
        for r in sorted(d['intervals']['rows'], key=lambda r: r['time_ns']) if r['intervals'] == 20})"
}

check "a rank that sleeps does so before the barrier, more than it does anything else" between sleep sleep \
    'r["cause"] in ("asleep", "preempted", "preempted by others") and r["off_ns"] >= 60000000 and
        r["voluntary_switches"] >= 60 and other["longer_ns"] == 0 and r is d["intervals"]["rows"][0]'
check "... its excess is the sum of its own intervals minus as many of the others" is True \
    "$(of sleep 'abs(r["longer_ns"] - (r["time_ns"] - 20 * other["mean_ns"])) < 1 and r["others_mean_ns"] == other["mean_ns"]')"
check "the parts of its time add up to its time" is True \
    "$(of sleep 'r["cpu_ns"] + r["runnable_ns"] + r["off_ns"] == r["time_ns"]')"
check "the rank that does nothing has no excess" is "0 None" "$(of sleep '"%g %s" % (other["longer_ns"], other["cause"])')"
check "both ends of an interval have their functions" is "MPI_Barrier MPI_Barrier True" \
    "$(of sleep '"%s %s %s" % (r["after"]["mpi_function"], r["until"]["mpi_function"], r["after"]["line"] < r["until"]["line"])')"
check "... the ends of the run have none" is "1 True" \
    "$(json sleep.json '"%d %s" % (sum(r["after"] is None for r in d["intervals"]["rows"] if r["rank"] == 1), any(r["until"] is None for r in d["intervals"]["rows"]))')"

# The report has the same figures as the logs.
"$BUILD/tests/causes/print_causes" sleep.trace/rank-*.log >sleep.causes
check "the sums equal those of the logs" is \
    "$(awk '/^sum / { n++; for (i = 1; i <= NF; i++) { split($i, v, "="); if (v[1] == "intervals") a += v[2]; if (v[1] == "time") t += v[2] } } END { printf "%d %d %.0f", n, a, t }' sleep.causes)" \
    "$(json sleep.json '(lambda b: "%d %d %d" % (b["row_count"], b["intervals"], b["time_ns"]))(d["intervals"])')"

check "page faults are counted, and the cause is named" between faults faults \
    '1280 <= r["minor_faults"] <= 1600 and
        r["cause"] in ("page faults", "kernel", "computing", "preempted", "preempted by others")'
# The rank computes for as long as it waits for the thread, a few clock ticks separate user from
# kernel time, and other programs may preempt both: any of these may be the largest part.
check "a rank is preempted by a thread of its own on the same processor" between hog hog \
    'r["runnable_ns"] >= 80000000 and r["threads_here_ns"] >= 64000000 and
        r["cause"] in ("preempted by its threads", "kernel", "computing", "preempted by others")'

"$STAGGER" report sleep.trace >text
check "the report has a table of these intervals" all 'has text "^between calls +[0-9]+ intervals sampled"' \
    'has text "^ +1 +[0-9.]+[mu]?s +20 .* (asleep|preempted[a-z ]*) +MPI_Barrier main .* -> MPI_Barrier main "'
"$STAGGER" report --csv=intervals sleep.trace >csv
check "... CSV has the table" all 'has csv "^rank,intervals,time_ns,mean_ns,others_mean_ns,longer_ns,cause,cpu_ns"' \
    'is "$(json sleep.json "d[\"intervals\"][\"row_count\"] + 1")" "$(wc -l <csv)"' 'has csv "^1,20,[0-9.e+]+,.*,(asleep|preempted[a-z ]*),"'
"$STAGGER" report --top 1 --json sleep.trace >top.json
check "--top limits the table" is "1 1" "$(json top.json '"%d %s" % (len(d["intervals"]["rows"]), d["intervals"]["rows"][0]["rank"])')"

"$STAGGER" report --html sleep.html sleep.trace 2>page.err && "$PYTHON" "$ROOT/tests/page/check_page.py" sleep.html >sleep.page
check "the page has the table" all 'empty page.err' 'has <(of sleep "\"%d %d\" % (r[\"rank\"], r[\"intervals\"])") "^1 20$"' \
    'is "$(of sleep "\"%d %d %.6f %d\" % (r[\"rank\"], r[\"intervals\"], r[\"off_ns\"] / r[\"time_ns\"], d[\"intervals\"][\"row_count\"])")" "$(json sleep.page "(lambda rows: \"%s %s %.6f %d\" % (rows[1][1][\"text\"], rows[1][4][\"text\"], float(rows[1][9][\"data-v\"]), len(rows) - 1))(d[\"tables\"][\"before\"])")"'

# An archive has the same sums, too, and its text names the causes.
check "with events, JSON has the sums and the text has the causes" all \
    'STAGGER_TRACE=otf2 between events sleep "r[\"off_ns\"] >= 60000000"' \
    '"$STAGGER" report events.trace >events.text' 'lacks events.text "^between calls"' 'has events.text "^why "'
missing=$("$STAGGER" info | sed -n 's/^  \(scheduler\|resource usage\|migrations\|counters\|switches\|threads\): unavailable .*/\1/p')
check "one line lists the unavailable sources" all 'is "$missing" "$(json events.json "\"\n\".join(d[\"intervals\"][\"missing_sources\"])")"' \
    'has_lines events.text "^note: causes computed without" "$([ -z "$missing" ] && echo 0 || echo 1)"' \
    '[ -z "$missing" ] || has events.text "^note: causes computed without ${missing//$'"'\n'"'/, } [(]unavailable"'
STAGGER_CAUSES=off observe off 2 "$KNOWN" sleep 5
report_json off.trace off.json
"$STAGGER" report off.trace >off.text
check "without samples the report has no such table" all 'is None "$(json off.json "d[\"intervals\"]")"' 'lacks off.text "^between calls"' \
    'is 1 "$("$STAGGER" report --csv=intervals off.trace | wc -l)"'
