#!/bin/bash
# Requests of every kind, from the call that makes them to their completion, in a program with known
# completions, bytes and messages.
. "$(dirname "$0")/../lib/sh.sh"

# One line per function: calls, completions of the requests that they made, bytes sent and received.
cat >known <<'END'
MPI_Comm_idup 2 2 0 0
MPI_Ibcast 2 2 100 100
MPI_Imrecv 1 1 0 100
MPI_Irecv 24 23 0 2300
MPI_Isend 24 23 2400 0
MPI_Mrecv 1 0 0 100
MPI_Precv_init 1 2 0 400
MPI_Psend_init 1 2 0 0
MPI_Recv 1 0 0 100
MPI_Recv_init 1 5 0 500
MPI_Send 2 0 200 0
MPI_Send_init 1 5 0 0
MPI_Start 10 0 700 0
MPI_Startall 4 0 200 0
0 1 33 3500
END
tell() {
    report_json "$1" calls.json && "$PYTHON" -c '
import json
d = json.load(open("calls.json"))
for f in sorted(d["functions"], key=lambda f: f["mpi_function"]):
    if f["completed_calls"] or f["sent_bytes"] or f["received_bytes"]:
        print(f["mpi_function"], f["calls"], f["completed_calls"], f["sent_bytes"], f["received_bytes"])
for p in d["messages"]["pairs"]:
    assert (p["sent_messages"], p["sent_bytes"]) == (p["received_messages"], p["received_bytes"]), p
    print(p["from"], p["to"], p["messages"], p["bytes"])'
}

for hook in auto none; do
    STAGGER_WAIT_HOOK=$hook STAGGER_WAIT=yield STAGGER_TRACE=stats observe "$hook" 2 "$PROGRAMS/known_requests"
    check "a program with requests of every kind runs (hook $hook)" ran_well "$hook"
    tell "$hook.trace" >told
    check "completions, bytes and messages equal the program's own (hook $hook)" same known told
done

STAGGER_WAIT=yield observe events 2 "$PROGRAMS/known_requests"
check "the program runs with events" ran_well events
tell events.trace >told
check "its completions, bytes and messages are the same" same known told
check "the archive has 31 of the 33 messages, all but two partitioned ones" is "31 0 0" \
    "$(json calls.json '"%d %d %d" % tuple(d["wait_states"][n] for n in
        ("matched_messages", "unmatched_sends", "unmatched_receives"))')"

# MPICH keeps nothing of such requests.
for mode in stats otf2; do
    STAGGER_TRACE=$mode observe "dropped-$mode" 2 "$PROGRAMS/known_requests" dropped
    check "requests that nobody waits for use bounded memory ($mode)" all 'ran_well "dropped-$mode"' \
        'has_lines "dropped-$mode.out" "^grown by [0-9]{1,3} KiB$" 2'
done

cat >known <<'END'
MPI_Irecv 17 17 0 680
MPI_Isend 17 17 680 0
0 1 17 680
END
if [ -x "$PROGRAMS/known_requests_f08" ]; then
    STAGGER_TRACE=stats observe f08 2 "$PROGRAMS/known_requests_f08"
    check "a program in Fortran 2008 with requests runs" ran_well f08
    tell f08.trace >told
    check "its completions, bytes and messages equal the program's own" same known told
else
    skip "requests in Fortran 2008 are counted" "no compiler for it was found"
fi
