#!/bin/bash
# Messages of which some have no events: the remaining sends and receives are matched correctly.
# Each message has a different length, which lets the archive check verify the matches.
. "$(dirname "$0")/../lib/sh.sh"

# matches NAME PART MATCHED SENDS RECEIVES: the messages with events at both ends, and at only one
# end
matches() {
    observe "$1" 2 "$PROGRAMS/gaps" "$2"
    check "the messages are sent and received ($1)" ran_well "$1"
    check "the archive is sound ($1)" archive_sound "$1.trace"
    report_json "$1.trace" "$1.json"
    check "only messages with an event at both ends are matched ($1)" is "$3 $4 $5 0" \
        "$(json "$1.json" '"%d %d %d %d" % tuple(d["wait_states"][f] for f in ("matched_messages",
            "unmatched_sends", "unmatched_receives", "clock_violations"))')"
}

matches switched switched 7 1 1
matches pending pending 5 7 0
STAGGER_EVENTS=Ssend,Isend,Sendrecv,Recv,Wait matches events kinds 18 0 6
STAGGER_CALLS=Ssend,Isend,Sendrecv,Recv matches calls kinds 18 0 6
STAGGER_EVENTS=Send,Irecv,Wait,Start matches receives pending 2 10 0
