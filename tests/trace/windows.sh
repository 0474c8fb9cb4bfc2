#!/bin/bash
# The archive's windows and one-sided operations of a program with known figures. The checker
# enforces their rules, as faults planted into the same archive show.
. "$(dirname "$0")/../lib/sh.sh"

observe killed 3 "$PROGRAMS/known_windows" leave
"$STAGGER" recover killed.trace >recover.out 2>&1
check "the archive of a run that ends early obeys the rules" all 'archive_sound killed.trace' \
    'has <(otf2-print killed.trace/traces.otf2) "^RMA_PUT "'

observe windows 3 "$PROGRAMS/known_windows"
! fails_alone "windows and one-sided operations obey the rules" 3 "$PROGRAMS/known_windows" || exit 0
check "windows and one-sided operations obey the rules" all 'ran_well windows' \
    'archive_sound windows.trace'
check "every planted fault is found" \
    "$PYTHON" "$ROOT/tests/trace/window_faults.py" windows.trace/traces.otf2
"$PYTHON" "$ROOT/tests/lib/check_archive.py" --events events.json windows.trace/traces.otf2 >check.out

# events EXPRESSION: the expression for each of rank 0's events e
events() {
    "$PYTHON" -c '
import json, sys
events = [e for e in json.load(open("events.json")) if e["location"] == 0]
print(eval(sys.argv[1], {"events": events}))' "$1"
}
check "the archive has every operation, with its target and bytes" \
    is "[(1, 8), (1, 8), (1, 8), (1, 8), (1, 16), (2, 4), (1, 40), (0, 40)] [(2, 12), (2, 12)]" \
    "$(events '" ".join(str([(e["remote"], e["bytes"]) for e in events if e["kind"] == kind])
        for kind in ("RmaPut", "RmaGet"))')"
check "... operations that compute have the kind of computation" is "$(printf '%s\n' "ACCUMULATE 1 4 0" \
    "FETCH_AND_ACCUMULATE 1 8 8" "FETCH_AND_ADD 1 4 4" "SWAP 1 4 4" "COMPARE_AND_SWAP 1 4 4" \
    "ACCUMULATE 2 8 0" "FETCH_AND_ADD 2 4 4")" \
    "$(events '"\n".join("%s %d %d %d" % (e["type"], e["remote"], e["bytes_sent"], e["bytes_received"])
        for e in events if e["kind"] == "RmaAtomic")')"
check "every operation completes at its origin, and at its target where MPI reports it" is "17 17 16" \
    "$(events '" ".join(str(sum(e["kind"] in kinds for e in events)) for kinds in
        (("RmaPut", "RmaGet", "RmaAtomic"), ("RmaOpCompleteNonBlocking",), ("RmaOpCompleteRemote",)))')"
check "windows have their own or their communicator's name" is "small window 0 of MPI_COMM_WORLD" \
    "$(events '" ".join(sorted({e["win"] for e in events if "win" in e}))')"
check "each synchronisation has its group" is "[2] [1] [1] [2] [2] [1] [1] [2]" \
    "$(events '" ".join(str(e["members"]) for e in events if e["kind"] == "RmaGroupSync")')"
check "locks are requested and released" is "EXCLUSIVE SHARED 2" \
    "$(events '" ".join([e["lock_type"] for e in events if e["kind"] == "RmaRequestLock"] +
        [str(sum(e["kind"] == "RmaReleaseLock" for e in events))])')"
check "nothing is omitted" lacks <(otf2-print -I windows.trace/traces.otf2) 'STAGGER::LEFT_OUT|DROPPED.*[1-9]'

STAGGER_EVENTS='MPI_Put,MPI_Win_unlock*' observe some 3 "$PROGRAMS/known_windows"
check "an archive with a part of the calls obeys the rules" all 'ran_well some' 'archive_sound some.trace'
