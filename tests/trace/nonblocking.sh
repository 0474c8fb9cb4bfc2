#!/bin/bash
# Nonblocking collectives of a program between virtual nodes, in archive, statistics and report:
# their number and instances, and that post, exposed and hidden time add up.
. "$(dirname "$0")/../lib/sh.sh"

# posted NAME N: runs tests/mpi/overlap.c on N ranks, one per node; its own counts are in NAME.own.
posted() {
    STAGGER_RANKS_PER_NODE=1 observe "$1" "$2" "$PROGRAMS/overlap"
    grep '^{' "$1.out" >"$1.own"
    report_json "$1.trace" "$1.json"
}

# rows NAME OPERATION FIELD: the sum over its rows; None if a row has no value
rows() {
    json "$1.json" "(lambda all: None if None in all else sum(all))(
        [s['$3'] for s in d['sites'] if s['op'] == '$2'])"
}

# agrees NAME: each operation's rows have the program's number of calls
agrees() {
    for operation in iallreduce ireduce ibarrier; do
        is "$(json "$1.own" "d['calls']['$operation']")" "$(rows "$1" $operation calls)" || return 1
    done
}

# hides NAME: the program's work between post and wait is hidden
hides() {
    within "$(json "$1.own" "d['hidden_ns']")" $((10 ** 12)) "$(rows "$1" iallreduce hidden_ns)"
}

# adds_up NAME: each rank has every instance once, and the parts of each post add up to the
# nanosecond
adds_up() {
    "$PYTHON" "$ROOT/tests/lib/check_archive.py" --events "$1.events" "$1.trace/traces.otf2" \
        >"$1.sound" || { grep -v '^ok' "$1.sound"; return 1; }
    "$PYTHON" -c '
import collections, json, sys
seqs = collections.defaultdict(list)
entered, posting, posts = {}, {}, {}
complete = 0
for event in json.load(open(sys.argv[1])):
    at, kind = event["location"], event["kind"]
    if kind == "Enter":
        entered[at] = event["time"]
        if "algorithm" in event["attributes"]:
            seqs[at % 2**32].append(event["attributes"]["seq"])
    elif kind == "NonBlockingCollectiveRequest":
        posting[at] = posts[at, event["request"]] = {"begin": entered[at]}
    elif kind == "Leave" and event["region"] != "late contribution" and at in posting:
        posting.pop(at)["left"] = event["time"]
    elif kind == "NonBlockingCollectiveComplete":
        post = posts.pop((at, event["request"]))
        values = event["attributes"]
        parts = post["left"] - post["begin"] + values["exposed wait"] + values["hidden time"]
        assert parts == event["time"] - post["begin"], (post, event)
        complete += 1
assert not posts, posts
assert complete == sum(json.load(open(sys.argv[2]))["calls"].values()), complete
for rank, mine in seqs.items():
    assert sorted(mine) == list(range(len(mine))), (rank, mine)' "$1.events" "$1.own"
}

for ranks in 2 4; do
    name=events$ranks
    STAGGER_TRACE=otf2 posted $name $ranks
    check "an archive of $ranks ranks has all nonblocking calls" all "ran_well $name" "agrees $name"
    check "each is an instance of its own, and its times add up ($ranks ranks)" adds_up $name
    check "the archive is sound ($ranks ranks)" archive_sound $name.trace
    check "bytes are those of all ranks ($ranks ranks)" \
        is "$((10 * 24 * ranks)) $((7 * 4 * ranks)) 0" \
        "$(rows $name iallreduce bytes) $(rows $name ireduce bytes) $(rows $name ibarrier bytes)"
    check "work between post and wait counts as hidden ($ranks ranks)" hides $name
    # A reduce may complete at once on every rank; a barrier may only on the last rank to post it.
    check "waits until the end count as exposed ($ranks ranks)" \
        within 1 $((10 ** 12)) "$(rows $name ibarrier exposed_ns)"
done
check "the rank that posts last is the last rank" is "[(1, 1.0)] 0" \
    "$(json events2.json "[(s['last_rank'], s['last_rank_share']) for s in d['sites']
        if s['op'] == 'iallreduce']") $(json events2.json "d['clock']['violations']")"
check "the text has columns of exposed and hidden time" \
    has <("$STAGGER" report --all events2.trace) '^  id +op +comm .* exposed +hidden'

STAGGER_TRACE=stats posted statistics 2
check "statistics count all posts" all "ran_well statistics" "agrees statistics"
check "statistics count their bytes" is "480 56 0" "$(rows statistics iallreduce bytes) \
$(rows statistics ireduce bytes) $(rows statistics ibarrier bytes)"
check "statistics have the hidden time" hides statistics
check "statistics lack the exposed time" is None "$(rows statistics iallreduce exposed_ns)"
check "blocking calls have rows of their own" is "4 None" \
    "$(rows statistics barrier calls) $(rows statistics barrier hidden_ns)"
starts() { # NAME: their figures as functions are those of so many calls, whose times can be
    json "$1.json" "[f['mpi_function'] for f in d['functions'] if f['mpi_function'].startswith('MPI_I')
        and f['calls'] > 0 and f['completed_calls'] == f['calls']
        and 0 < f['min_ns'] <= f['mean_ns'] <= f['max_ns']
        and abs(f['mean_ns'] * f['calls'] - f['time_ns']) < f['calls']
        and f['deviation_ns'] <= f['max_ns'] - f['min_ns']
        and f['latency_mean_ns'] >= f['mean_ns']]"
}
for name in statistics events2; do
    check "the calls that start the collectives have times of their own ($name)" \
        is "['MPI_Iallreduce', 'MPI_Ibarrier', 'MPI_Ireduce']" \
        "$(starts $name | "$PYTHON" -c 'print(sorted(eval(input())))')"
done
