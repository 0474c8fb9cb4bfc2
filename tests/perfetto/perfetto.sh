#!/bin/bash
# stagger export --perfetto: the JSON conforms to the format, for hand-written runs and real
# programs; memory does not grow with the run; bad usage and bad input.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/progress/progress.bash"
. "$ROOT/tests/internode/internode.bash"

for program in make_archive make_large make_messages; do
    "${CC:-gcc}" -O1 -std=gnu11 -D_GNU_SOURCE -I"$ROOT/shim" -I"$ROOT/tests" \
        "$ROOT/tests/report/$program.c" -o "$program" -lotf2 || {
        echo "not ok - the fixtures' writer compiles"
        exit 1
    }
done
for kind in known foreign without-collectives without-events; do
    ./make_archive "$kind" "$kind" || exit 1
done
./make_messages known messages && ./make_messages clocks clocks && ./make_messages ring 4 10 ring || exit 1
mkdir statistics && ./make_archive statistics statistics

# sound NAME DIR: the export of DIR is sound; its counts are in NAME.counts.
sound() {
    "$STAGGER" export --perfetto "$1.json" "$2" 2>"$1.err" || { cat "$1.err"; return 1; }
    "$PYTHON" "$ROOT/tests/perfetto/check_trace.py" "$1.json" >"$1.counts" || { cat "$1.counts"; return 1; }
}

# counts NAME EXPRESSION
counts() { json "$1.counts" "$2"; }

# The known run has 5 instances on four ranks, one on two and two of one rank: 24 slices. Each rank
# that waited has a flow: 3 + 3 + 3 in the barriers, the root in the first reduce. The root of the
# second reduce and, by its clock, rank 2 of `half` had left before the last rank arrived.
check "the export of a known run is sound" sound known known
check "its slices are its calls, and its flows are the calls that waited" is "24 0 10 0" \
    "$(counts known '"%d %d %d %d" % (d["collectives"], d["late"], d["flows"], d["spans"])')"
check "the ranks' waits add up to the report's figure" is 30.7 "$(counts known 'd["wait_us"]')"
check "every rank is a process, and all ranks together are one" is "5 8" \
    "$(counts known '"%d %d" % (d["processes"], d["threads"])')"
check "the calls' counts are counters" is \
    "early messages,late messages,signals,skew (us) on MPI_COMM_WORLD,skew (us) on half" \
    "$(counts known '",".join(d["counters"])')"
check "names with unusual bytes are text" has <(counts known '"\n".join(d["names"])') \
    '^reduce f\\xff\\x1b na\\xefme,"x".c:7$'
check "incomplete instances are omitted, and one line says so" \
    has known.err '^stagger: export: 2 calls of incomplete instances are omitted$'
check "another tool's archive is exported" all 'sound foreign foreign' \
    'is "MPI_Finalize MPI_Gather MPI_Init allreduce barrier reduce" "$(counts foreign "\" \".join(d[\"names\"])")"'
check "the export of an archive without collectives has the other calls" \
    all 'sound none without-collectives' \
    'is "0 12" "$(counts none "\"%d %d\" % (d[\"collectives\"], d[\"calls\"])")"'
check "- writes to standard output" all '"$STAGGER" export --perfetto - known >stdout.json 2>/dev/null' \
    'same known.json stdout.json'

# ---- calls and messages, by hand ------------------------------------------------------------------

# events NAME EXPRESSION: the expression for each event e of NAME.json, unless empty; `at` is its
# time in ns.
events() {
    "$PYTHON" -c 'import json, sys
for e in json.load(open(sys.argv[1]))["traceEvents"]:
    at = round(e.get("ts", 0) * 1000)
    line = eval(sys.argv[2])
    if line:
        print(line)' "$1.json" "$2"
}

# The first event is at 100. A flow begins with the call that began the send, and ends 1 ns before the
# message was received.
check "an export of messages is sound" sound messages messages
check "each message is a flow from its send to its receive, at their times" same - \
    <(events messages '"%s %d rank %d at %d" % (e["ph"], e["id"], e["pid"] - 1, at) if e["ph"] in "sf" else ""' | sort -k2n,2 -k1r,1) <<'END'
s 1 rank 0 at 50
f 1 rank 1 at 59
s 2 rank 2 at 100
f 2 rank 0 at 189
s 3 rank 1 at 200
f 3 rank 3 at 280
s 4 rank 0 at 260
f 4 rank 3 at 269
s 5 rank 2 at 785
f 5 rank 3 at 789
END
check "each call is a slice with its arguments" same - \
    <(events messages '"%d %d+%d %s %s" % (e["pid"] - 1, at, round(e["dur"] * 1000), e["name"],
        " ".join(f"{k}={v}" for k, v in e["args"].items())) if e["ph"] == "X" and e["pid"] == 1 else ""' | sort -k2n,2) <<'END'
0 50+5 MPI_Send f a.c:20 site=00000014 comm=MPI_COMM_WORLD to=1 sent_tag=7 sent_bytes=8
0 180+10 MPI_Recv f a.c:11 site=0000000b comm=half from=2 received_tag=7 received_bytes=8
0 260+1 MPI_Send f a.c:20 site=00000014 comm=MPI_COMM_WORLD to=3 sent_tag=8 sent_bytes=8
0 400+50 MPI_Bcast f a.c:15 site=0000000f comm=MPI_COMM_WORLD root=3 sent_bytes=8 received_bytes=8
0 500+70 MPI_Gather f a.c:17 site=00000011 comm=half root=0 sent_bytes=8 received_bytes=8
0 630+1 MPI_Ialltoall f a.c:24 site=00000018
0 650+1 MPI_Wait f a.c:19 site=00000013 comm=half sent_bytes=8 received_bytes=8
0 700+20 MPI_Barrier f a.c:25 site=00000019 comm=half sent_bytes=8 received_bytes=8
0 800+1 MPI_Send f a.c:26 site=0000001a comm=MPI_COMM_WORLD to=1 sent_tag=7 sent_bytes=8
END
check "a message that was received before it was sent has no flow" all 'sound clocks clocks' \
    'is "2 0 1" "$(counts clocks "\"%d %d %d\" % (d[\"calls\"], d[\"flows\"], d[\"received\"])")"'
check "calls that wait for requests have the received messages" all 'sound ring ring' \
    'is "120 40 40" "$(counts ring "\"%d %d %d\" % (d[\"calls\"], d[\"messages\"], d[\"received\"])")"'

# ---- real programs -------------------------------------------------------------------------------

words=$WORK/words
RULES='reduce=bypass;*=mpich' run_late late thread "$PROGRAMS/late" async "$words" 10
check "late contributions are slices" all 'sound late late.trace' 'is 10 "$(counts late "d[\"late\"]")"'
run_across posts thread 1 '*=adaptive;*=bypass' 3 "$PROGRAMS/posts" mixed
check "nonblocking collectives are spans" all 'sound posts posts.trace' \
    'within 1 1000000 "$(counts posts "d[\"spans\"]")"'

# MPI_Init and MPI_Finalize are in the archive, not in the statistics.
observe waits 4 "$PROGRAMS/known_waits" "$WORK/stamps" recv
report_json waits.trace waits.report
check "the export of a program that sends messages is sound" all 'ran_well waits' 'sound waits waits.trace'
check "its slices are the calls that the report counts, by function" same \
    <(json waits.report '"\n".join(sorted("%s %d" % (f["mpi_function"], f["calls"]) for f in d["functions"]))') \
    <(counts waits '"\n".join(sorted("%s %d" % f for f in d["functions"].items() if f[0] not in ("MPI_Init", "MPI_Finalize")))')
check "its flows of messages are the messages that the report matched" is \
    "$(json waits.report '"%d %d" % ((d["wait_states"]["matched_messages"],) * 2)')" \
    "$(counts waits '"%d %d" % (d["messages"], d["received"])')"

# ---- memory --------------------------------------------------------------------------------------

# peak_kib COMMAND...
peak_kib() {
    "$PYTHON" -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}
./make_large 20 500 10 short && ./make_large 20 5000 10 long || exit 1
./make_messages ring 4 2000 short-ring && ./make_messages ring 4 20000 long-ring || exit 1
check "the export of a larger run is sound" all 'sound short short' \
    'is 10000 "$(counts short "d[\"collectives\"]")"'
if grep -q __asan_init "$STAGGER"; then
    skip "memory does not grow with the run" "a sanitizer build"
else
    small=$(peak_kib "$STAGGER" export --perfetto /dev/null short)
    large=$(peak_kib "$STAGGER" export --perfetto /dev/null long)
    check "memory does not grow with the run" within 0 $((small + small / 10)) "$large"
    small=$(peak_kib "$STAGGER" export --perfetto /dev/null short-ring)
    large=$(peak_kib "$STAGGER" export --perfetto /dev/null long-ring)
    check "memory does not grow with the run's messages" within 0 $((small + small / 10)) "$large"
fi

# ---- bad usage and bad input -----------------------------------------------------------------------

# refused STATUS REGEX ARGUMENT...: that exit status, one matching line, no file.
refused() {
    local expected=$1 regex=$2
    shift 2
    "$STAGGER" export "$@" >refused.out 2>refused.err
    is "$expected" $? && empty refused.out && has refused.err "$regex" &&
        is 1 "$(grep -c '^stagger' refused.err)" && absent out.json && is "" "$(ls | grep '^out')"
}
check "a missing form is bad usage" refused 2 "perfetto FILE is missing" known
check "two directories are bad usage" refused 2 "unexpected argument 'known'" --perfetto out.json known known
check "a missing directory is refused" refused 1 "No such file" --perfetto out.json nowhere
check "statistics without events are refused" refused 1 "contains statistics but no events" \
    --perfetto out.json statistics
check "an archive without events is refused" refused 1 "without events" \
    --perfetto out.json without-events
cp -r known cut && truncate -s 100 cut/traces/0.evt
check "a truncated archive is refused, and leaves no file" refused 1 "damaged events" \
    --perfetto out.json cut
echo precious >kept.json
check "a failure leaves an existing file unchanged" all \
    '! "$STAGGER" export --perfetto kept.json cut 2>/dev/null' 'has kept.json precious'
check "a directory as output file is refused" refused 1 "known: is a directory" --perfetto known known
check "an output path that cannot be written is refused" refused 1 "No such file" \
    --perfetto nowhere/out.json known
check "a full disk is reported in one line" all '! "$STAGGER" export --perfetto /dev/full long 2>full.err' \
    'is 1 "$(grep -c ^stagger: full.err)"' 'has full.err "/dev/full: cannot be written"'

if command -v valgrind >/dev/null && ! grep -q __asan_init "$STAGGER"; then
    check "valgrind finds nothing in an export" \
        bash -c "valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
            --suppressions='$ROOT/tests/report/valgrind.supp' \
            '$STAGGER' export --perfetto /dev/null known 2>/dev/null &&
            valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
            --suppressions='$ROOT/tests/report/valgrind.supp' \
            '$STAGGER' export --perfetto /dev/null messages 2>/dev/null"
else
    skip "valgrind on an export" "no valgrind, or a sanitizer build"
fi
