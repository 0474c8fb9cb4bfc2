#!/bin/bash
# Calls on an intercommunicator: in the archive, with the waits between its groups. The groups are
# ranks 2, 0 and 1, 3 (known_between.c).
. "$(dirname "$0")/../lib/sh.sh"

observe waits 4 "$PROGRAMS/known_between"
check "the program runs" all 'ran_well waits' 'archive_sound waits.trace'
"$PYTHON" "$ROOT/tests/lib/check_archive.py" --counts --json counts.json waits.trace/traces.otf2 >counts
check "intercommunicators are defined, each once, with both groups" is \
    "between 02|13 copy 02|13 lower 0|1 upper 2|3" \
    "$(json counts.json '" ".join(sorted(c["name"] + " " + "|".join(sorted("".join(map(str, sorted(g)))
        for g in c["groups"])) for c in d["comms"] if c["groups"]))')"
check "a copy and a part of an intercommunicator have it as parent, a merged one has no parent" is \
    "between None copy between lower between merged None upper between" "$(json counts.json \
    '" ".join(sorted("%s %s" % (c["name"], c["parent"]) for c in d["comms"] if c["groups"] or
        c["name"] == "merged"))')"
report_json waits.trace waits.json
check "nothing is omitted" is "False 0" "$(json waits.json '"%s %d" % (d["partial"], d["dropped_calls"])')"
json waits.json '"\n".join("%s: %s in %s for %d: %s" % (p["state"], p["mpi_function"], p["function"],
    p["rank"], p["for"]["mpi_function"]) for p in d["wait_states"]["pairs"])' >pairs
# found STATE FUNCTION RANK: in that function ranks wait for RANK, longer than for others
found() { has pairs "^$1: MPI_[A-Za-z]* in $2 for $3: "; }
check "a late sender of the other group is found" found "late sender" message 0
check "... a request finds a late sender of the other group" found "late sender" posted 1
check "each group waits for the last member of the other one" all 'found "wait at barrier" barrier 3' \
    'found "wait at NxN" allreduce 3' 'found "wait at NxN" ialltoall 0'
check "the other group waits for a late root" found "late broadcast" bcast 0
check "a root waits for the last member of the other group" all 'found "early reduce" reduce 2' \
    'found "early reduce" gather 3'
check "a group that receives from a root waits for it" found "wait at NxN" one_way 1
check "exactly the expected messages are matched" is "10 0 0" "$(json waits.json \
    '"%d %d %d" % tuple(d["wait_states"][n] for n in ("matched_messages", "unmatched_sends", "unmatched_receives"))')"
