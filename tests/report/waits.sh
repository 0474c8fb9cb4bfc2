#!/bin/bash
# Wait states of a program with known waits: the states, functions and ranks. Ignores the length of
# waits, and whether every round waited: the machine may be slow.
. "$(dirname "$0")/../lib/sh.sh"

observe waits 3 "$PROGRAMS/known_waits"
check "the program runs" ran_well waits
report_json waits.trace waits.json
json waits.json '"\n".join("%s: %s in %s for %d: %s in %s" % (p["state"], p["mpi_function"], p["function"],
    p["rank"], p["for"]["mpi_function"], p["for"]["function"]) for p in d["wait_states"]["pairs"]
    if p["waits"] <= 20)' >pairs

# found STATE CALL RANK CALL: that pair is there
found() { has pairs "^$1: $2 for $3: $4$"; }
check "a late sender is found" found "late sender" "MPI_Recv in early_recv" 0 "MPI_Send in late_send"
check "... a wildcard receive finds it" found "late sender" "MPI_Recv in early_wildcard" 0 "MPI_Send in late_send"
check "... the wait for a request finds it" \
    found "late sender" "MPI_Wait in early_wait" 0 "MPI_Send in late_send"
check "... a persistent receive finds it" found "late sender" "MPI_Wait in early_start" 0 "MPI_Send in late_send"
check "... a probe finds it" all \
    'found "late sender" "MPI_Probe in early_probe" 0 "MPI_Send in late_send"' \
    'found "late sender" "MPI_Mprobe in early_mprobe" 0 "MPI_Send in late_send"'
check "... a wait for several requests finds the last one" \
    found "late sender" "MPI_Waitall in early_waitall" 2 "MPI_Send in late_send"
check "... it is found behind a cancelled receive" \
    found "late sender" "MPI_Recv in early_with_cancelled" 0 "MPI_Send in late_send"
check "... MPI_Sendrecv finds it" \
    found "late sender" "MPI_Sendrecv in early_sendrecv" 0 "MPI_Sendrecv in late_sendrecv"
check "messages in wrong order are found" is "early_wrong_order" "$(json waits.json \
    '" ".join(r["function"] for r in d["wait_states"]["by_site"] if r["wrong_order_waits"])')"
check "a late receiver is found" \
    found "late receiver" "MPI_Ssend in early_ssend" 1 "MPI_Recv in late_recv"
check "... a late receiver is found in the wait for a request" \
    found "late receiver" "MPI_Wait in early_issend" 1 "MPI_Recv in late_recv"
check "late members of collectives are found" all \
    'found "late broadcast" "MPI_Bcast in bcast" 1 "MPI_Bcast in bcast"' \
    'found "late broadcast" "MPI_Wait in ibcast" 1 "MPI_Ibcast in ibcast"' \
    'found "early reduce" "MPI_Gather in gather" 2 "MPI_Gather in gather"' \
    'found "wait at NxN" "MPI_Alltoall in alltoall" 2 "MPI_Alltoall in alltoall"' \
    'found "early scan" "MPI_Scan in scan" 0 "MPI_Scan in scan"'
check "exactly the expected messages are matched" is "150 0 0" "$(json waits.json \
    '"%d %d %d" % tuple(d["wait_states"][n] for n in ("matched_messages", "unmatched_sends", "unmatched_receives"))')"
check "the text names the waits" has <("$STAGGER" report --top 100 waits.trace) \
    'MPI_Ssend +early_ssend known_waits.c:[0-9]+ +1 +MPI_Recv +late_recv known_waits.c:[0-9]+$'
