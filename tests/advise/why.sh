#!/bin/bash
# The causes of late ranks in stagger advise: for an archive worked out by hand, and for programs
# with known causes. Extra causes that the machine adds are ignored (tests/report/why.sh).
. "$(dirname "$0")/../lib/sh.sh"

"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -I"$ROOT/shim" -I"$ROOT/tests" "$ROOT/tests/report/make_messages.c" \
    -o make_messages -lotf2 || { echo "not ok - the fixture's writer compiles"; exit 1; }
./make_messages late 3 41 late && ./make_messages known waits || exit 1
KNOWN=$PROGRAMS/known_causes

# The figures are those of tests/page/page.sh.
"$STAGGER" advise late >late.txt 2>late.err
check "lateness that no algorithm fixes is reported with the rank and the interval" all 'empty late.err' \
    'has late.txt "^why ranks are late: others waited 16.6us for them in 40 sampled instances$"' \
    'has late.txt "^   48%  computing on rank 2, late for MPI_Barrier f a.c:4: between MPI_Barrier f a.c:4 and MPI_Send f a.c:1"' \
    'has late.txt "^        no algorithm fixes that: balance the work$"'
check "... lateness that an algorithm may fix is reported, too" all 'has late.txt "^    4%  calls of MPI on rank 1"' \
    'has late.txt "^  no algorithm fixes 96% of it, another one may fix 4%, unknown: 0%$"'
"$STAGGER" advise --json late >late.json
check "JSON has the same causes" is \
    "True 16600 16000 600 0 [('computing', 2, 8000, 'program'), ('preempted', 1, 4000, 'program'), ('asleep', 2, 4000, 'program'), ('calls of MPI', 1, 600, 'algorithm')]" \
    "$(json late.json '(lambda l: "%s %d %d %d %d %s" % (l["events"], l["late_ns"], l["program_ns"], l["algorithm_ns"], l["not_told_apart_ns"], [(c["cause"], c["rank"], round(c["late_ns"]), c["mended_by"]) for c in l["causes"]]))(d["lateness"])')"
"$STAGGER" advise waits >waits.txt
"$STAGGER" advise --json waits >waits.json
check "without intervals the causes are unknown" all 'has waits.txt "^why ranks are late is unknown"' \
    'is None "$(json waits.json "d[\"lateness\"]")"'
check "--top limits the number of causes" is 1 "$("$STAGGER" advise --top 1 late | grep -c "%  .* on rank")"

export STAGGER_CAUSES=all
# finds WHAT CAUSE REGEX: the advice on a run names this cause for rank 1, and a line of it matches
finds() {
    rm -rf "$1.trace"
    observe "$1" 2 "$KNOWN" "$1" 20
    "$STAGGER" advise "$1.trace" >"$1.txt" && "$STAGGER" advise --json "$1.trace" >"$1.json" && has "$1.txt" "$3" &&
        is "program True" "$(json "$1.json" "(lambda c: '%s %s' % (c['mended_by'], c['times_median'] is not None and
            c['times_median'] > 10))(next(c for c in d['lateness']['causes'] if c['rank'] == 1 and c['cause'] == '$2'))")"
}
check "advise says to look at a rank that sleeps" all 'one_of_five finds sleep asleep \
    "asleep on rank 1, late for MPI_Barrier main .* times the median of the others$"' \
    'has sleep.txt "no algorithm fixes that: it sleeps"'
check "advise says why a rank that shares its processor is late" one_of_five finds hog "preempted by its threads" \
    "no algorithm fixes that: its own threads use its processor"
check "the parts of lateness add up to the whole" is True "$(json sleep.json \
    '(lambda l: abs(l["program_ns"] + l["algorithm_ns"] + l["not_told_apart_ns"] - l["late_ns"]) < 1)(d["lateness"])')"

sums() {
    rm -rf stats.trace
    STAGGER_TRACE=stats observe stats 2 "$KNOWN" sleep 20
    "$STAGGER" advise stats.trace >stats.txt 2>stats.err && "$STAGGER" advise --json stats.trace >stats.json &&
        has stats.txt " (asleep|preempted[a-z ]*) on rank 1, late for MPI_Barrier main" &&
        is "False 1" "$(json stats.json '"%s %d" % (d["lateness"]["events"], d["lateness"]["causes"][0]["rank"])')"
}
check "without events, causes are computed from the ranks' sums" all 'one_of_five sums' 'empty stats.err' \
    'has stats.txt "^what ranks do longer than others before calls: "'
