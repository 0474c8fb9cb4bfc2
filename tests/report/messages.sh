#!/bin/bash
# Wait states in stagger report: archives of messages with worked-out figures (make_messages.c), as
# text, JSON and CSV, and for a part of the run.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
golden_update=
. "$ROOT/tests/report/golden.bash"

fixtures report/make_messages
./make_messages known known || exit 1

# told ARGUMENT...: a line per pair, then the totals
told() {
    "$STAGGER" report --json "$@" >told.json && "$PYTHON" -c '
import json
w = json.load(open("told.json"))["wait_states"]
for p in sorted(w["pairs"], key=lambda p: (p["mpi_function"], p["line"])):
    print(p["state"], p["mpi_function"], p["line"], p["waits"], p["wait_ns"], "for", p["rank"],
          p["for"]["mpi_function"], p["for"]["line"])
print("total", w["waits"], w["wait_ns"], "messages", w["matched_messages"], w["unmatched_sends"],
      w["unmatched_receives"], w["clock_violations"])'
}

cat >expected <<'END'
wait at barrier MPI_Barrier 25 1 15 for 2 MPI_Barrier 25
late broadcast MPI_Bcast 15 3 60 for 3 MPI_Bcast 16
early reduce MPI_Gather 17 1 60 for 2 MPI_Gather 18
late sender MPI_Recv 10 1 50 for 0 MPI_Send 20
late sender MPI_Recv 27 1 35 for 2 MPI_Send 28
late receiver MPI_Ssend 21 1 80 for 0 MPI_Recv 11
late sender MPI_Wait 13 1 40 for 0 MPI_Send 20
wait at NxN MPI_Wait 19 1 25 for 0 MPI_Ialltoall 24
total 10 365 messages 5 1 0 0
END
check "the report says which ranks wait for which, where and how long" same expected <(told known)
check "one late sender is in wrong order" is "MPI_Wait 1 40" "$(json told.json \
    '" ".join("%s %d %d" % (r["mpi_function"], r["wrong_order_waits"], r["wrong_order_ns"])
        for r in d["wait_states"]["by_site"] if r["wrong_order_waits"])')"
check "the sums of call sites, of pairs and of ranks agree" is "365 365 365 365" "$(json told.json \
    '"%d %d %d %d" % tuple(sum(r[f] for r in d["wait_states"][t]) for t, f in (("by_site", "wait_ns"),
        ("pairs", "wait_ns"), ("per_rank", "wait_ns"), ("per_rank", "caused_ns")))')"
"$STAGGER" report --all known >known.txt 2>known.err
check "the table of ranks has each rank's waits in all calls, and those that it causes" same \
    <(json told.json '"\n".join("%d %dns %dns" % (r["rank"], r["wait_ns"], r["caused_ns"])
        for r in d["wait_states"]["per_rank"])') \
    <(sed -n '/^How long each rank/,/^$/p' known.txt | awk '$1 ~ /^[0-9]+$/ { print $1, $4, $6 }')
check "the text has states and pairs" all 'empty known.err' \
    'has known.txt "^  late sender +MPI_Wait +f a.c:13 +1 +40ns +40ns +1$"' \
    'has known.txt "^ +80ns +1  late receiver +MPI_Ssend +f a.c:21 +0  MPI_Recv +f a.c:11$"'
check "the longest wait is first" has_lines known.txt \
    '^  late receiver +MPI_Ssend' 1
check "the collectives have their skew, at the call that began them" same - \
    <(json told.json '"\n".join("%s %d: %d calls on %s, %d, skew %s, wait %d, last %s" % (r["mpi_function"], r["line"],
        r["calls"], r["comm"], r["instances"], r["skew_ns"]["max"], r["wait_ns"], r["last_rank"])
        for r in d["collectives"])') <<'END'
MPI_Bcast 15: 3 calls on MPI_COMM_WORLD, 1, skew 30, wait 60, last 3
MPI_Gather 17: 1 calls on half, 0, skew None, wait 60, last None
MPI_Ialltoall 24: 2 calls on half, 1, skew 30, wait 25, last 0
MPI_Barrier 25: 2 calls on half, 1, skew 15, wait 15, last 2
MPI_Gather 18: 1 calls on half, 1, skew 60, wait 0, last 2
MPI_Bcast 16: 1 calls on MPI_COMM_WORLD, 0, skew None, wait 0, last None
END
check "... CSV has the skews, too" all '"$STAGGER" report --csv=collectives known >skews.csv' 'is 7 "$(wc -l <skews.csv)"' \
    'has skews.csv "^MPI_Ialltoall,00000018,f,a.c,24,a,24,half,2,1,2,1,30,30,30,30,25,0,1,600"'
check "--csv writes states" all '"$STAGGER" report --csv=waits known >waits.csv' 'is 9 "$(wc -l <waits.csv)"' \
    'has waits.csv "^late sender,MPI_Recv,0000000a,f,a.c,10,a,10,1,50,50,0,0"'
check "--csv writes pairs" all '"$STAGGER" report --csv=pairs known >pairs.csv' 'is 9 "$(wc -l <pairs.csv)"' \
    'has pairs.csv "^late receiver,MPI_Ssend,00000015,.*,1,80,80,0,1,1,80,MPI_Recv,0000000b,f,a.c,11,a,11"'
check "the critical path is as long as its parts" is "True True" "$(json told.json '"%s %s" % (
    sum(r["path_ns"] for r in d["critical_path"]["rows"]) == d["critical_path"]["path_ns"],
    d["critical_path"]["calls_ns"] + d["critical_path"]["intervals_ns"] == d["critical_path"]["path_ns"])')"
check "... CSV has the critical path" all '"$STAGGER" report --csv=path known >path.csv' \
    'is "$(json told.json "d[\"critical_path\"][\"row_count\"] + 1")" "$(wc -l <path.csv)"'
check "a part of the run has no critical path" is None "$("$STAGGER" report --json --rank 3 known >part.json &&
    json part.json 'd["critical_path"]')"
bash -c 'ulimit -f 0; exec "$0" report --all known 2>&1' "$STAGGER" | cat >full.txt
check "without a temporary file everything but the path is reported" all \
    'has_lines full.txt "^stagger: no space for a temporary file: the critical path is omitted" 1' \
    'has full.txt "^  late receiver +MPI_Ssend"' 'lacks full.txt "^critical path"'
check "--top cuts the tables, and the text says so" all '"$STAGGER" report --all --top 2 known >top.txt' \
    'has top.txt "^note: 2 of 8 wait states are shown"' 'has top.txt "^note: 2 of 8 pairs of call sites are shown"'
check "--site selects a call site's waits" is "total 1 50 messages 5 1 0 0" "$(told --site a.c:10 known | tail -n1)"
check "--comm selects a communicator's waits" is "total 4 180 messages 5 1 0 0" "$(told --comm half known | tail -n1)"
check "--rank selects a rank's waits" is "total 2 75 messages 5 1 0 0" "$(told --rank 3 known | tail -n1)"
check "--time selects an interval's waits" is "total 5 160 messages 5 1 0 0" "$(told --time 200ns:550ns known | tail -n1)"

# In each round only rank 0 waits, for 10 (RANKS - 1) - 6.
./make_messages ring 4 50000 ring || exit 1
check "the figures for many messages are those of one round" \
    is "late sender MPI_Wait 3 50000 1200000 for 3 MPI_Send 2 total 50000 1200000 messages 200000 0 0 0" \
    "$(told ring | xargs)"
