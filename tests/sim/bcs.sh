#!/bin/bash
# stagger sim bcs as users run it: programs under buffered coscheduling and without it.
. "$(dirname "$0")/../lib/sh.sh"

bcs() { timeout "$PROGRAM_SECONDS" "$STAGGER" sim bcs "$@"; }
# value FILE KEY: of the first row
value() { json "$1" "d['rows'][0]['$2']"; }
# near FILE KEY LEAST MOST: of all rows
near() { "$PYTHON" -c '
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
assert rows and all(float(sys.argv[3]) <= r[sys.argv[2]] <= float(sys.argv[4]) for r in rows), rows' "$@"; }

bcs -n 4,16 -s 250,500 --json >rows.json 2>rows.err
check "the output has one row for each number of nodes and each slice" all 'empty rows.err' \
    'is "4 250 4 500 16 250 16 500" \
        "$(json rows.json "\" \".join(\"%d %d\" % (r[\"nodes\"], r[\"slice_us\"]) for r in d[\"rows\"])")"' \
    'is "pattern engine nodes slice_us granularity_us noisy restart agent usual_ms bcs_ms longer_percent call_slices events fitted" \
        "$(json rows.json "\" \".join(d[\"rows\"][0])")"' 'is blocking "$(json rows.json "d[\"mode\"]")"'
check "CSV and the table have the same rows" all 'bcs -n 4,16 -s 250,500 --csv >rows.csv' \
    'has_lines rows.csv "^exchange,slices,(4|16),(250|500),3500,0,phase,nic," 4' \
    'bcs -n 4,16 -s 250,500 >rows.txt' 'has_lines rows.txt "^exchange " 4' \
    'has rows.txt "^seed 1, 200 iterations, mode blocking,"'
check "a blocking exchange every 3.5 ms takes about 30 % longer, as in paper 001" all \
    'bcs -n 4,16,64 --json >blocking.json' 'near blocking.json longer_percent 25 35' \
    'near blocking.json call_slices 0.9 1.1'
check "... it takes twice that when calls return with the next slice" all \
    'bcs -n 4,16,64 --restart slice --json >slice.json' 'near slice.json longer_percent 50 60'
check "a nonblocking exchange takes no longer" all \
    'bcs -n 4,16,64 --mode nonblocking --json >nonblocking.json' \
    'near nonblocking.json longer_percent -2 0.5'
check "a wavefront waits for its neighbours in any case" all \
    'bcs -p sweep -n 16 --json >sweep.json' 'near sweep.json longer_percent 15 30'
check "sage has collectives and nonblocking messages" all \
    'bcs -p sage -n 16 -g 9461 --json >sage.json' 'near sage.json longer_percent -3 3'
check "slices take as long as in the protocol, message by message" all \
    'bcs -p barrier -n 2,100 -g 1900 -i 50 --imbalance 30 --set query_us=0 --set post_us=0 --json >slices.json' \
    'bcs -p barrier -n 2,100 -g 1900 -i 50 --imbalance 30 --set query_us=0 --set post_us=0 -e protocol --json >protocol.json' \
    'is "$(json slices.json "[r[\"bcs_ms\"] for r in d[\"rows\"]]")" "$(json protocol.json "[r[\"bcs_ms\"] for r in d[\"rows\"]]")"'
# alike A B: run times equal within a thousandth
alike() { "$PYTHON" -c '
import json, sys
a, b = ([r["bcs_ms"] for r in json.load(open(name))["rows"]] for name in sys.argv[1:])
assert len(a) == len(b) > 0 and all(abs(x / y - 1) < 1e-3 for x, y in zip(a, b)), (a, b)' "$@"; }
for pattern in exchange sweep sage; do
    for mode in blocking nonblocking; do
        how="-p $pattern -m $mode -n 4,16 -i 40 --set query_us=0 --set post_us=0 --set agent_us=0 --json"
        check "messages take as long as in the protocol: $pattern, $mode" all 'bcs $how >slices.json' \
            'bcs $how -e protocol >protocol.json' 'alike slices.json protocol.json'
    done
done
how="-p sweep -n 4,16 -i 40 --set query_us=0 --set post_us=0 --set agent_us=0 --json"
check "... strobes on demand take as long, though a computing node sends them" all \
    'bcs $how --strobe demand >slices.json' 'bcs $how --strobe demand -e protocol >protocol.json' \
    'alike slices.json protocol.json'
noise="-p barrier -n 32 -g 1900 -i 200 --noise 1000 --noise-every 20000"
# longer FILE: each row's run times, as usual and coscheduled, are longer than those of the row
# before
longer() { "$PYTHON" -c '
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
assert len(rows) == 4 and all(b[k] > a[k] for a, b in zip(rows, rows[1:]) for k in ("usual_ms", "bcs_ms")), rows' "$1"; }
check "noise on nodes delays all, and more noisy nodes delay more" all \
    'bcs $noise --noisy 0,1,4,32 --json >noisy.json' 'longer noisy.json' \
    'is "[0, 1, 4, 32]" "$(json noisy.json "[r[\"noisy\"] for r in d[\"rows\"]]")"'
check "... one noisy node delays all by the noise's own time" \
    is 19 "$(json noisy.json "'%.0f' % (d['rows'][1]['usual_ms'] - d['rows'][0]['usual_ms'])")"
check "... noise delays the protocol, too" all 'bcs $noise --set query_us=0 --set post_us=0 --noisy 1,4 --json >slices.json' \
    'bcs $noise --set query_us=0 --set post_us=0 --noisy 1,4 -e protocol --json >protocol.json' 'alike slices.json protocol.json'
check "more noisy nodes than nodes are refused" all 'bcs -n 4,16 --noisy 5 2>err; is 1 $?' \
    'is "stagger: sim: --noisy 5 exceeds the 4 nodes" "$(cat err)"'
check "an agent on the host takes time" all \
    'bcs -n 16 -m nonblocking -a nic --json >nic.json' 'bcs -n 16 -m nonblocking -a host --json >host.json' \
    'is True "$("$PYTHON" -c "print($(value nic.json bcs_ms) < $(value host.json bcs_ms))")"'
check "65536 nodes run barriers, in the protocol too" all \
    'bcs -p barrier -n 65536 -i 2 --json >many.json' 'near many.json call_slices 0.1 2' \
    'bcs -p barrier -n 65536 -i 2 -e protocol --set query_us=0 --json >many2.json' 'near many2.json call_slices 0.1 2'
check "4096 nodes exchange messages" all 'bcs -n 4096 -i 5 --json >many3.json' 'near many3.json longer_percent 20 40'
check "a program without run time has no relative increase" all 'bcs -n 1 -g 0 --json >none.json' \
    'is None "$(value none.json longer_percent)"' 'is 0.0 "$(value none.json bcs_ms)"' 'bcs -n 1 -g 0' \
    'bcs -n 1 -g 0 --csv >none.csv' 'has none.csv "^exchange,slices,1,250,0,0,phase,nic,0,0,,0,"'

# refused STATUS REGEX ARGUMENT...
refused() {
    local expected=$1 regex=$2
    shift 2
    bcs "$@" >refused.out 2>refused.err
    is "$expected" $? && empty refused.out && has refused.err "$regex" &&
        is 1 "$(grep -c '^stagger' refused.err)"
}
check "messages among more nodes are refused" refused 1 'at most 4096 nodes' -n 4097
check "more nodes than the protocol allows are refused" refused 1 'at most 1048576 nodes' -p barrier -n 1048577
check "a slice of zero length is refused" refused 2 "'0'" --slice 0
check "an unknown pattern is refused" refused 2 "'ring'" --pattern ring
