#!/bin/bash
# Communicators in the log: all members derive the same identity, however the communicator was made,
# and different communicators have different identities.
. "$(dirname "$0")/../lib/sh.sh"

cat >known <<'END'
MPI_COMM_WORLD 0 1 2 3
adjacent 0 1 2 3
again 0 1 2 3
again 0 1 2 3
again 0 1 2 3
created 3 1
created by group 3 1
created by group again 3 1
distributed 0 1 2 3
dup 0 1 2 3
dup of inter 0 2 | 1 3
dup_with_info 0 1 2 3
even 2 0
even again 0 2
even column 0 2
freed 0 0 1 2 3
freed 1 0 1 2 3
freed 2 0 1 2 3
graph 0 1 2 3
grid 0 1 2 3
idup 0 1 2 3
idup of dup 0 1 2 3
inter 0 2 | 1 3
inter again 0 2 | 1 3
lower inter 0 | 1
merged 0 2 1 3
odd 3 1
odd again 1 3
odd column 1 3
reduced 0 1 2 3
shared 0 1 2 3
single 2
thread 0 0 0 1 2 3
thread 0 1 0 1 2 3
thread 0 2 0 1 2 3
thread 1 0 0 1 2 3
thread 1 1 0 1 2 3
thread 1 2 0 1 2 3
upper inter 2 | 3
END
# Groups communicators by identity: every member that knows one gives it the same name and the same
# members.
cat >unite.py <<'END'
import re, sys
LINE = re.compile(r"comm (\d+) (.*) ([0-9a-f]{16}):(\d+) rank (\d+) size (\d+) peers (\d+)"
                  r" of (.*?)(?: members (.*))?$")
comms, indices = {}, {}
for path in sys.argv[1:]:
    for line in open(path):
        if line.startswith("rank "):
            rank = int(line.split()[1])
            indices[rank] = []
        found = LINE.match(line)
        if not found:
            continue
        index, name, identity, ordinal, own, size, peers, parent, members = found.groups()
        indices[rank].append((int(index), name))
        assert int(identity, 16) != 0, line
        comm = comms.setdefault((identity, ordinal), {"ranks": {}, "names": set(), "lists": []})
        assert rank not in comm["ranks"], line
        comm["ranks"][rank] = int(own), int(size), int(peers)
        comm["names"].add((name, parent))
        if members:
            ranks = [int(word) for word in members.split()]
            comm["lists"].append((ranks[:int(size)], ranks[int(size):]))
for rank in indices:
    assert indices[rank][:2] == [(1, "MPI_COMM_WORLD"), (2, "MPI_COMM_SELF")], indices[rank]
lines = []
for comm in comms.values():
    names = set(name for name, parent in comm["names"])
    assert len(names) == 1, comm
    name, = names
    if not name:
        continue
    if name == "MPI_COMM_SELF" or name.startswith("own "):
        assert len(comm["ranks"]) == 1, comm
        continue
    sides = sorted(comm["lists"])
    assert len(sides) == (2 if sides[0][1] else 1), comm
    if sides[0][1]:
        assert sides[1] == sides[0][::-1], comm
    for own, remote in sides:
        for at, member in enumerate(own):
            assert comm["ranks"].pop(member) == (at, len(own), len(remote) or len(own)), comm
    assert not comm["ranks"], comm
    lines.append(" ".join([name] + [str(r) for r in sides[0][0]])
                 + (" | " + " ".join(str(r) for r in sides[0][1]) if sides[0][1] else ""))
print("\n".join(sorted(lines)))
END
print_logs() { "$BUILD/tests/profile/print_log" "$1.trace"/rank-*.log >"$1.log"; }

# Without its companion the library makes no archive from the logs.
mkdir alone && cp "$LIB" alone/
PRELOAD=$WORK/alone/libstagger.so observe made 4 "$PROGRAMS/comms_made"
check "a program that makes communicators in every way runs" is 0 "$status"
check "its logs can be printed" print_logs made
"$PYTHON" unite.py made.log >told 2>&1
check "all members know a communicator by the same identity, and no two communicators share one" \
    same known told
check "a communicator has the right parent" \
    all 'has_lines made.log "^comm .* idup of dup .* of dup( members|$)" 4' \
    'has_lines made.log "^comm .* merged .* of inter( members|$)" 4' \
    'has_lines made.log "^comm .* created by group again .* of odd( members|$)" 2' \
    'has_lines made.log "^comm .* MPI_COMM_WORLD .* of -( members|$)" 4'
check "a managed communicator is known as one among all calls' communicators" \
    all 'has_lines made.log "^managed MPI_COMM_WORLD is MPI_COMM_WORLD$" 4' \
    'has_lines made.log "^managed MPI_COMM_SELF is MPI_COMM_SELF$" 4' \
    'has_lines made.log "^managed reduced is reduced$" 4'

STAGGER_TRACE=stats observe counted 4 "$PROGRAMS/comms_made"
check "the program runs with statistics only" ran_well counted
check "its logs can be printed" print_logs counted
check "a freed communicator's number goes to the next one with its members and name" \
    has_lines counted.log "^comm [0-9]+ again " 4
