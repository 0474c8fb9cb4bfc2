#!/bin/bash
# All MPI calls in stagger report, for a program with known calls, bytes and messages.
. "$(dirname "$0")/../lib/sh.sh"

# tell DIR: prints the parsed report: a line per function, then messages and MPI's time.
tell() {
    report_json "$1" calls.json && "$PYTHON" -c '
import json
d = json.load(open("calls.json"))
for f in sorted(d["functions"], key=lambda f: f["mpi_function"]):
    assert f["min_ns"] is None or f["min_ns"] <= f["mean_ns"] <= f["max_ns"], f
    print(f["mpi_function"], f["calls"], f["sent_bytes"], f["received_bytes"], f["failed_calls"])
for p in sorted(d["messages"]["pairs"], key=lambda p: (p["from"], p["to"])):
    print(p["from"], p["to"], p["messages"], p["bytes"])
print("other", d["messages"]["other_messages"], d["messages"]["other_bytes"])
assert d["mpi"]["time_ns"] == sum(f["time_ns"] for f in d["functions"]), d["mpi"]
assert sum(c["calls"] for c in d["calls"]) == sum(f["calls"] for f in d["functions"])
assert 0 < d["mpi"]["share"] < 1 and d["mpi"]["least"]["share"] <= d["mpi"]["share"]'
}

cat >known <<'END'
MPI_Barrier 12 0 0 0
MPI_Bcast 28 448 1344 0
MPI_Comm_free 8 0 0 0
MPI_Comm_split 8 0 0 0
MPI_Irecv 20 0 320 0
MPI_Isend 20 320 0 0
MPI_Recv 12 0 8048 0
MPI_Send 12 8048 0 0
MPI_Waitall 20 0 0 0
0 1 16 8104
1 2 5 80
2 3 6 104
3 0 5 80
other 0 0
END
for trace in otf2 stats; do
    STAGGER_TRACE=$trace observe "$trace" 4 "$PROGRAMS/known_calls"
    check "a known program runs ($trace)" ran_well "$trace"
    tell "$trace.trace" >told
    check "calls, bytes and messages equal the program's own ($trace)" same known told
    "$STAGGER" report --all "$trace.trace" >"$trace.txt" 2>err
    check "the text has MPI's share, functions, call sites and messages ($trace)" all \
        'empty err' 'has_lines "$trace.txt" "^in MPI  +[0-9.]+% of rank time \(" 1' \
        'has "$trace.txt" "^  MPI_Bcast +28 .* 448B +1.31KiB"' \
        'has "$trace.txt" "^  MPI_Send +send_down known_calls.c:[0-9]+ +WORLD\(4\) +10 .* 7.81KiB "' \
        'has "$trace.txt" "^  MPI_Recv +send_in_half known_calls.c:[0-9]+ +half\(2\) +2 "' \
        'has "$trace.txt" "^  MPI_Waitall +shift known_calls.c:[0-9]+ +- +20 "' \
        'has "$trace.txt" "^ *from 0 +- 7.91KiB +- +-$"' 'has "$trace.txt" "^ *from 3 +5 +- +- +-$"' \
        'lacks "$trace.txt" "^messages to unknown ranks"'
done

# Each side sends 31 bytes to rank 0 of the other.
for trace in otf2 stats; do
    STAGGER_TRACE=$trace observe "between-$trace" 2 "$PROGRAMS/known_events" between
    report_json "between-$trace.trace" between.json
    check "messages between groups connect the ranks of both ($trace)" is "0-1: 1 31 1 31, 1-0: 1 31 1 31; 0" \
        "$(json between.json '", ".join("%d-%d: %d %d %d %d" % tuple(p[f] for f in ("from", "to", "sent_messages",
            "sent_bytes", "received_messages", "received_bytes")) for p in sorted(d["messages"]["pairs"],
            key=lambda p: p["from"])) + "; %d" % d["messages"]["other_messages"]')"
done

# ---- CSV and filters -----------------------------------------------------------------------------

check "--csv writes functions" all '"$STAGGER" report --csv=functions otf2.trace >functions.csv' \
    'has functions.csv "^mpi_function,calls,failed_calls,time_ns,"' 'is 10 "$(wc -l <functions.csv)"' \
    'has functions.csv "^MPI_Send,12,0,"'
check "--csv writes call sites" all '"$STAGGER" report --csv=calls otf2.trace >calls.csv' \
    'has calls.csv "^mpi_function,id,function,file,line,"' 'has calls.csv "^MPI_Recv,.*,half,2,2,"'
check "--csv writes messages" is "from,to,messages,bytes 0,1,16,8104" \
    "$("$STAGGER" report --csv=messages otf2.trace | cut -d, -f1-4 | head -n2 | xargs)"
check "an unknown table is bad usage" all \
    '! "$STAGGER" report --csv=nonsense otf2.trace 2>err' \
    'has err "csv wants functions, sites, collectives, calls, messages, .*, not .nonsense."'
check "--csv without a table writes the rows" same <("$STAGGER" report --csv otf2.trace) <("$STAGGER" report --csv=sites otf2.trace)
check "--top cuts the call sites, and the text says so" \
    has <("$STAGGER" report --all --top 2 otf2.trace) '^note: 2 of 1[0-9] call sites of MPI functions are shown'
# part OPTION VALUE: functions and calls in a part of the run.
part() {
    "$STAGGER" report --json "$@" otf2.trace >part.json &&
        json part.json '" ".join(sorted("%s %d" % (f["mpi_function"], f["calls"]) for f in d["functions"]))'
}
check "--site shows that call site's functions only" is "MPI_Recv 10 MPI_Send 10" "$(part --site send_down)"
check "--comm shows that communicator's calls only" is "MPI_Recv 2 MPI_Send 2" "$(part --comm half)"
check "--rank shows that rank's calls only" is \
    "MPI_Barrier 3 MPI_Bcast 7 MPI_Comm_free 2 MPI_Comm_split 2 MPI_Irecv 5 MPI_Isend 5 MPI_Send 11 MPI_Waitall 5" \
    "$(part --rank 0)"
check "with --time there are no figures of all calls, which have no times" is "null" \
    "$("$STAGGER" report --json --time 0s:9s otf2.trace >time.json && json time.json 'json.dumps(d["functions"])')"

# ---- few calls, and damage -------------------------------------------------------------------------

observe barriers 4 "$PROGRAMS/known_calls" barriers
"$STAGGER" report --all barriers.trace >barriers.txt
check "a program with barriers only has the share and the functions, and no other table" all \
    'has_lines barriers.txt "^in MPI " 1' 'has_lines barriers.txt "^  MPI_Barrier +12 " 1' \
    'lacks barriers.txt "^Calls of MPI functions by call site|^ *from +([0-9]|to +messages)|^messages"'

cat >killed.c <<'C'
#include <mpi.h>
#include <signal.h>
int main(int argc, char **argv)
{
    char text[8] = "";
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 6; i++) {
        MPI_Bcast(text, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1)
        raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
C
"$("$ROOT/.ci/find-mpi" cc 2>/dev/null || echo mpicc.mpich)" -g killed.c -o killed || exit 1
observe killed 3 ./killed
"$STAGGER" recover killed.trace >recover.out 2>&1
check "a killed run's calls are there when its archive is recovered" \
    has <("$STAGGER" report --all killed.trace) '^  MPI_Bcast +18 .* 48B +96B$'

long=$(printf 'x%.0s' {1..1200})λ$(printf 'y%.0s' {1..300})
cat >names.c <<C
#include <mpi.h>
__attribute__((noinline)) void f${long}_one(void) { MPI_Barrier(MPI_COMM_WORLD); }
__attribute__((noinline)) void f${long}_two(void) { MPI_Barrier(MPI_COMM_WORLD); }
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 5; i++) {
        f${long}_one();
        f${long}_two();
    }
    MPI_Finalize();
    return 0;
}
C
"$("$ROOT/.ci/find-mpi" cc 2>/dev/null || echo mpicc.mpich)" -g names.c -o 'solver[v2' || exit 1
for trace in otf2 stats; do
    rm -rf names.trace
    STAGGER_TRACE=$trace observe names 2 './solver[v2'
    "$STAGGER" report --json names.trace >names.json
    check "names of any length and with brackets stay whole ($trace)" \
        is "solver[v2 solver[v2 f${long}_one f${long}_two" "$(json names.json '" ".join([d["program"], d["sites"][0]["module"]] + sorted({s["function"] for s in d["sites"]}))')"
    check "... their lines in text are bounded, and differ ($trace)" all \
        'is 0 "$("$STAGGER" report --all names.trace | grep -cE "^.{1000}")"' \
        'has <("$STAGGER" report names.trace) "^solver\[v2, 2 ranks"' \
        'has <("$STAGGER" report --collectives names.trace) "_one names.c:2 "' \
        'has <("$STAGGER" report --collectives names.trace) "_two names.c:3 "'
done

cat >unrolled.c <<'C'
#include <mpi.h>
#include <time.h>
#define ONE (rank == 1 ? clock_nanosleep(CLOCK_MONOTONIC, 0, &late, NULL) : 0), MPI_Barrier(MPI_COMM_WORLD)
int main(int argc, char **argv)
{
    const struct timespec late = {0, 3000000};
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 30; i++)
        ONE, ONE, ONE;
    MPI_Finalize();
    return 0;
}
C
"$("$ROOT/.ci/find-mpi" cc 2>/dev/null || echo mpicc.mpich)" -g unrolled.c -o unrolled || exit 1
observe unrolled 2 ./unrolled
check "calls in one line are one line of the first screen, in the waits and in what would help" \
    is "" "$("$STAGGER" report unrolled.trace | sed -n 's/^  MPI_Barrier  \([^ ]* [^ ]*\) .*/\1/p; s/ would save.*//p' | sort | uniq -d)"

cp -r otf2.trace damaged && truncate -s 5000 damaged/traces/1.calls
check "a damaged file is reported in one line, and the rest of the report is complete" all \
    '"$STAGGER" report --all damaged >damaged.txt 2>err' 'has_lines err "damaged/traces/1.calls: damaged" 1' \
    'is 1 "$(wc -l <err)"' 'has damaged.txt "^  barrier "' 'has damaged.txt "^  MPI_Comm_split +6 "'
cp -r otf2.trace old && rm old/traces/*.calls
"$STAGGER" report --all old >old.txt 2>err
check "an archive of an older stagger has none of these figures" all 'empty err' \
    'lacks old.txt "^in MPI|^ +function +calls|^ *from +([0-9]|to +messages)|^messages"'
check "... JSON has null for them" is "None None None None" "$("$STAGGER" report --json old >old.json &&
    json old.json '" ".join(str(d[m]) for m in ("mpi", "functions", "calls", "messages"))')"
