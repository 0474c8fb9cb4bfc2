#!/bin/bash
# EMDS: every node records each bcs slice and the collectives that ran in it, consistently across
# nodes; settings choose nodes, metrics and slices; a killed job leaves its records.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/intranode/dying.bash"
. "$ROOT/tests/internode/internode.bash"
. "$ROOT/tests/internode/slices.bash"

SOLVE=("$PROGRAMS/cg" -n 12 -t 2 -s 1 -w 5)
export STAGGER_EMDS=on

# series NAME [OPTION...]: writes NAME.csv
series() { "$STAGGER" report --slices --csv "${@:2}" "$1.trace" >"$1.csv" 2>"$1.series"; }
# slices NAME EXPRESSION: a Python expression over `nodes`, the list of rows by node
slices() {
    "$PYTHON" -c '
import collections, csv, sys
nodes = collections.defaultdict(list)
for row in csv.DictReader(open(sys.argv[1])):
    if row["comm"] == "MPI_COMM_WORLD":
        nodes[int(row["node"])].append({k: int(v) if v.isdigit() else v for k, v in row.items()})
def numbers(node): return [row["slice"] for row in nodes[node]]
def total(node, name): return sum(row[name] or 0 for row in nodes[node])
print(eval(sys.argv[2]))' "$1.csv" "$2"
}
holds() { is True "$(slices "$1" "$2")"; }
# scheduled NAME: every collective run by bcs names its slice, and that slice has the matching count
scheduled() {
    "$PYTHON" -c '
import collections, csv, sys
import otf2
from otf2.events import Enter
ran = collections.Counter()
with otf2.reader.open(sys.argv[1] + ".trace/traces.otf2") as trace:
    for location, event in trace.events:
        values = {a.name: v for a, v in (getattr(event, "attributes", None) or {}).items()}
        if not isinstance(event, Enter) or values.get("algorithm") != "bcs":
            assert not isinstance(event, Enter) or "slice" not in values, values
        elif location.group._ref == 0:
            ran[values["slice"]] += 1
told = {int(r["slice"]): int(r["ncollmsm"]) for r in csv.DictReader(open(sys.argv[1] + ".csv"))
        if r["node"] == "0"}
assert sum(ran.values()) > 0 and ran == {s: n for s, n in told.items() if n > 0}, (ran, told)' "$1"
}
ran_across() { run_across "$@" && is 0 "$status" && series "$1"; }
alike='len(nodes) > 1 and all(numbers(n) == numbers(0) == sorted(set(numbers(0))) for n in nodes)'

# ---- recorded slices -----------------------------------------------------------------------------

check "slices with strobe=always are recorded" ran_across always thread 1 \
    '*=bcs(slice=500,strobe=always,microphases=separate)' 3 "${SOLVE[@]}"
check "... all nodes record the same slices, each once" holds always "$alike"
# Its barriers are 60 slices apart, unless ranks are late for them.
idles() {
    for _ in {1..10}; do
        ran_across idle thread 1 '*=bcs(slice=500,strobe=always)' 2 "$PROGRAMS/bench_slices" 5000 1 || return
        holds idle 'any(r["ncollmsm"] == 0 for r in nodes[0])' && return
    done
}
check "... idle slices are recorded while ranks sleep" idles
check "... every node exchanges as many collectives as it schedules" holds always \
    'len({total(n, k) for n in nodes for k in ("ncolldem", "ncollmsm")}) == 1'
check "... only endpoint 0 has global times" holds always \
    'all((r["gtts_ns"] != "") == (n == 0) for n in nodes for r in nodes[n])'
check "... global times are no shorter than those of their microphases" holds always \
    'all(r["gtts_ns"] >= r["gtdem_ns"] + r["gtmsm_ns"] for r in nodes[0])'
check "... global times are no shorter than the local ones" holds always \
    'all(r["gtts_ns"] >= r["ltts_ns"] for r in nodes[0])'
check "... two comparisons of three nodes fail, less one" holds always \
    'all(r["usrdem"] == 1 for r in nodes[0])'
check "... metrics of protocols that did not run are empty" holds always \
    'all(r["np2pdem"] == r["ltr3_ns"] == "" for n in nodes for r in nodes[n])'
check "... the archive is sound, and its calls have their slices" \
    all 'archive_sound always.trace' 'scheduled always'

# Without work there is no strobe: each recorded slice has work, and no node hears of idle ones.
check "slices on demand are recorded" ran_across demand thread 1 '*=bcs(slice=200)' 3 "${SOLVE[@]}"
check "... all nodes record the same slices" holds demand "$alike"
check "... each slice runs a collective, and idle nodes stay asleep" holds demand \
    'all(r["ncollmsm"] > 0 for n in nodes for r in nodes[n])'
# The last slice only lets calls return, and the program may end before it.
check "... slices are recorded when calls return at the next slice" all \
    'ran_across restart thread 1 "*=bcs(slice=200,restart=slice)" 2 "${SOLVE[@]}"' \
    'holds restart "numbers(0) in (numbers(1), numbers(1)[:-1]) and len(numbers(0)) > 1"'

for mode in $(modes poll thread signal); do
    check "the archive joins a node's slices from its ranks' logs ($mode)" all \
        'ran_across joined $mode 2 "*=bcs(slice=200)" 3 "${SOLVE[@]}"' 'holds joined "$alike and len(nodes) == 2"' \
        'archive_sound joined.trace'
done
check "... slices are joined from logs with statistics only" all \
    'STAGGER_TRACE=stats ran_across stats thread 2 "*=bcs(slice=200)" 3 "${SOLVE[@]}"' 'holds stats "$alike"'

check "communicators with strobes from different nodes count their slices from one moment" all \
    'ran_across orders thread 1 "*=bcs(slice=200)" 2 "$PROGRAMS/two_orders" 20' 'one_epoch orders.csv 200000'

# ---- selected nodes, metrics and slices ----------------------------------------------------------

run() { ran_across "$1" thread 1 '*=bcs(slice=200,strobe=always)' 2 "${SOLVE[@]}"; }
check "STAGGER_EMDS_NODES and STAGGER_EMDS_METRICS select nodes and metrics" all \
    'STAGGER_EMDS_NODES=1 STAGGER_EMDS_METRICS=letts,NCOLLMSM run chosen' 'holds chosen "list(nodes) == [1]"' \
    'holds chosen "all(r[\"ltts_ns\"] == \"\" and r[\"ncollmsm\"] != \"\" for r in nodes[1])"'
check "STAGGER_EMDS_EVERY and STAGGER_EMDS_SLICES record one slice of each N in a range" all \
    'STAGGER_EMDS_EVERY=4 STAGGER_EMDS_SLICES=0-100000000 run every' \
    'holds every "len(numbers(0)) > 0 and all(n % 4 == 0 for n in numbers(0))"' \
    'STAGGER_EMDS_SLICES=100000000-100000001 run beyond' 'holds beyond "len(nodes) == 0"'
check "metrics are off by default" all 'STAGGER_EMDS= run off' 'holds off "len(nodes) == 0"'

# said LINE: the latest run prints it once, and its results are unchanged
said() { has_lines wrong.err "$1" 1 && same <(grep '^step ' chosen.out) <(grep '^step ' wrong.out); }
STAGGER_EMDS_METRICS=GETS,LTTS STAGGER_EMDS_NODES=0,7 STAGGER_EMDS_SLICES=9-3 run wrong
check "an unknown metric is ignored, and the message gives the nearest name" all \
    "said '^stagger: STAGGER_EMDS_METRICS: metric .*GETS.* does not exist and is ignored; the nearest name is GETTS$'" \
    'holds wrong "nodes[0][0][\"ltts_ns\"] != \"\" and nodes[0][0][\"gtts_ns\"] == \"\""'
check "an unknown node is ignored, and the message gives the last node" all \
    "said '^stagger: STAGGER_EMDS_NODES: node 7 does not exist and is ignored; the last node is 1$'" \
    'holds wrong "list(nodes) == [0]"'
check "a reversed range of slices is reported" \
    said '^stagger: STAGGER_EMDS_SLICES=.*9-3.*expected FIRST-LAST, FIRST no greater than LAST'
check "STAGGER_EMDS without a rule with bcs is reported" all 'run_across wrong thread 1 "*=srm" 2 "${SOLVE[@]}"' \
    "said '^stagger: STAGGER_EMDS is ignored: no rule names bcs, the only algorithm with slices$'"

# ---- a killed job --------------------------------------------------------------------------------

dies() {
    run_across killed thread 1 '*=bcs(slice=200)' 2 "$PROGRAMS/ending" kill 50
    "$STAGGER" recover killed.trace >recover.out 2>&1 && series killed
}
check "a killed job leaves its slices" all dies 'holds killed "len(numbers(0)) > 0"' 'archive_sound killed.trace'
check "nothing of the library is left in /dev/shm" no_shared_memory
