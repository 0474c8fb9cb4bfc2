#!/bin/bash
# stagger advise --bcs: runs replayed with nonblocking calls and in slices, compared with answers
# worked out by hand, and a real run.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=advise
. "$ROOT/tests/report/golden.bash"

fixtures report/make_messages advise/make_planted report/make_archive
./make_messages exchange 2 100 exchange || exit 1
./make_messages sends 2 50 sends || exit 1
./make_messages ring 4 50 ring || exit 1
./make_messages known known || exit 1
./make_planted pair pair || exit 1
mkdir statistics
./make_archive statistics statistics || exit 1
printf 'latency_us = 5\noverhead_us = 1\ngap_ns_per_byte = 1\nlocal_us = 2\ncopy_ns_per_byte = 0.5\n' >net.conf

bcs() { "$STAGGER" advise --bcs --network ./net.conf "$@"; }
# whole FILE KEY
whole() { json "$1" "d['coscheduling']['$2']"; }
# row FILE MESSAGES SLICE KEY; SLICE is None for the run as usual
row() { json "$1" "[r['$4'] for r in d['coscheduling']['rows'] if r['messages'] == '$2' and r['slice_us'] == $3][0]"; }
# less A B
less() { "$PYTHON" -c 'import sys; a, b = map(float, sys.argv[1:]); print(a, b); sys.exit(not a < b)' "$@"; }

# ---- answers worked out by hand ------------------------------------------------------------------

bcs --json --slice 100,500 exchange >exchange.json 2>exchange.err
check "a run that follows the model is replayed without an error" all 'empty exchange.err' \
    'is 100200800 "$(whole exchange.json measured_ns)"' 'is 0.0 "$(whole exchange.json error_ns)"' \
    'is 100200800.0 "$(row exchange.json "as recorded" None run_ns)"' \
    'is 400 "$(whole exchange.json calls)"'
# Each of 100 rounds posts a send (2 us) and receives a message (2 us); the last round takes 2004 us
# more.
check "a message that is waited for a round later costs only its post and receipt" \
    is 99402004.0 "$(row exchange.json nonblocking None run_ns)"
# Strobes interrupt the computation, so 1 ms of it may end in an eleventh slice.
check "in slices, each of two blocking calls waits for a boundary" all \
    'less 118000000 "$(row exchange.json "as recorded" 100 run_ns)"' \
    'less "$(row exchange.json "as recorded" 100 run_ns)" 131000000' \
    'less 198000000 "$(row exchange.json "as recorded" 500 run_ns)"'
# The remaining cost is the interrupting strobes: two a round, a few us each.
check "... nonblocking calls do not wait for a boundary" less "$(row exchange.json nonblocking 500 run_ns)" 102000000
check "calls that return with the next slice take longer" all \
    'bcs --json --slice 100 --restart slice exchange >restart.json' 'is slice "$(whole restart.json restart)"' \
    'less "$(row exchange.json "as recorded" 100 run_ns)" "$(row restart.json "as recorded" 100 run_ns)"'
check "the text reports the error and gives no advice" all 'bcs exchange >exchange.txt' \
    'has exchange.txt "^replayed as usual 100ms: the error of the model is 0ns .0.0%.$"' \
    'has_lines exchange.txt "^    as usual " 2' 'has_lines exchange.txt "^    slices of (100|500)us " 4' \
    'has exchange.txt "^no advice: "' 'lacks exchange.txt "=bcs"'
check "blocking sends that all come first deadlock in slices, nonblocking sends do not" all \
    'bcs --json sends >sends.json' 'is False "$(row sends.json "as recorded" 100 ends)"' \
    'is None "$(row sends.json "as recorded" 100 run_ns)"' 'is True "$(row sends.json nonblocking 100 ends)"' \
    'is True "$(row sends.json "as recorded" None ends)"' 'bcs sends >sends.txt' \
    'has_lines sends.txt "slices of .* as recorded .* deadlock: its blocking sends need buffers" 2'
check "requests are waited for at the recorded calls" all 'bcs --json ring >ring.json' \
    'is 600 "$(whole ring.json calls)"' \
    'is True "$(json ring.json "len(d[\"coscheduling\"][\"rows\"]) == 6")"'
check "collectives are replayed like messages" all 'bcs --json pair >pair.json' 'is 42 "$(whole pair.json calls)"' \
    'is "$(row pair.json "as recorded" None run_ns)" "$(row pair.json nonblocking None run_ns)"'

# ---- input of all kinds --------------------------------------------------------------------------

check "a run that cannot be replayed is reported with the reason" all 'bcs known >known.txt' \
    'has known.txt "^The run cannot be replayed: "' 'bcs --json known >known.json' \
    'is True "$(json known.json "d[\"coscheduling\"][\"why_not\"] is not None")"'
check "a run with statistics only has no calls to replay" all 'bcs statistics >statistics.txt' \
    'has statistics.txt "^The run cannot be replayed: its events contain no messages"'
check "rules cannot be combined with bcs" refused 2 "bcs cannot be combined with --output" --bcs -o rules exchange
check "slice options are accepted for bcs only" refused 2 "slice needs --bcs" --slice 100 exchange
check "a slice of zero length is refused" refused 2 "slice wants" --bcs --slice 0 exchange
check "an unknown restart time is refused" refused 2 "restart wants phase or slice, not 'soon'" --bcs --restart soon exchange

# ---- a real run ----------------------------------------------------------------------------------

for ranks in 2 4; do
    observe real "$ranks" "$PROGRAMS/exchanges" 1 20
    check "bcs replays a run of $ranks ranks" all 'ran_well real' \
        '"$STAGGER" advise --bcs --json real.trace >real.json 2>real.err' 'empty real.err' \
        'is None "$(whole real.json why_not)"' 'is "$((20 * 4 * (ranks - 1) + ranks))" "$(whole real.json calls)"' \
        'less 0 "$(row real.json nonblocking None run_ns)"' \
        'less "$(row real.json nonblocking None run_ns)" "$(row real.json "as recorded" None run_ns)"'
    rm -r real.trace
done
