#!/bin/bash
# stagger sim as users run it: rows, formats, networks, figures, errors.
. "$(dirname "$0")/../lib/sh.sh"

sim() { timeout "$PROGRAM_SECONDS" "$STAGGER" sim "$@"; }

# refused STATUS REGEX ARGUMENT...: that exit status, one matching line, nothing on stdout.
refused() {
    local expected=$1 regex=$2
    shift 2
    sim "$@" >refused.out 2>refused.err
    is "$expected" $? && empty refused.out && has refused.err "$regex" &&
        is 1 "$(grep -c '^stagger' refused.err)"
}

small="--nodes 4,8 --skew-us 0,500 --elements 4 --iterations 50"

# ---- many nodes ----------------------------------------------------------------------------------

# at_scale OP ALGORITHM,...: from 100 to 10 000 nodes the logarithm doubles.
at_scale() {
    sim delay --nodes 100,10000 --iterations 1 --elements 1 --op "$1" --algo "$2" --stats --json >scale.json &&
        "$PYTHON" - <<'EOF'
import json
rows = json.load(open("scale.json"))["rows"]
kinds = ("sends", "writes", "cell_writes", "fetch_adds", "reads")
assert len(rows) >= 8
for few, many in zip(rows[::2], rows[1::2]):
    assert few["algo"] == many["algo"] and (few["nodes"], many["nodes"]) == (100, 10000)
    assert many["delay_us"] <= 3 * few["delay_us"], many
    each = [sum(row[kind] for kind in kinds) / row["nodes"] for row in (few, many)]
    assert 0 < each[1] <= 3 * each[0], many
    assert many["process_bytes"] <= few["process_bytes"], many
EOF
}
check "a call's delay and requests a node grow with the logarithm of the nodes, and its memory does not" all \
    'at_scale barrier adaptive,tree,dissemination,pairwise,srm,handoff,bcs' \
    'at_scale allreduce adaptive,tree,pairwise,srm,handoff,bcs' \
    'at_scale reduce bypass,tree,srm,handoff,bcs' 'at_scale bcast bypass,tree,srm,bcs'

# ---- rows ----------------------------------------------------------------------------------------

sim cpu --algo 'bypass,handoff(split=1)' $small --json >cpu.json 2>cpu.err
check "sim cpu prints its rows as JSON, and nothing on stderr" all 'empty cpu.err' \
    'is 8 "$(json cpu.json "len(d[\"rows\"])")"' \
    'is "algo op nodes skew_us elements cpu_us baseline_cpu_us factor signals late early fitted" \
         "$(json cpu.json "\" \".join(d[\"rows\"][0])")"'
check "the rows are in the order of the lists" \
    is "bypass 4 0 bypass 4 500 bypass 8 0 bypass 8 500" \
    "$(json cpu.json '" ".join("%s %d %d" % (r["algo"], r["nodes"], r["skew_us"]) for r in d["rows"][:4])')"
check "the factor is the baseline's processor use over the algorithm's" "$PYTHON" -c '
import json
for row in json.load(open("cpu.json"))["rows"]:
    assert abs(row["baseline_cpu_us"] / row["cpu_us"] - row["factor"]) < 0.01, row'
check "the output has seed, commit, network and fitted values" all \
    'is 1 "$(json cpu.json "d[\"seed\"]")"' 'has cpu.json "\"commit\": \"[0-9a-z]+"' \
    'is myrinet2000 "$(json cpu.json "d[\"network\"][\"name\"]")"' \
    'is "signal_us noise_us" "$(json cpu.json "\" \".join(d[\"fitted\"])")"' \
    'is "signal_us noise_us" "$(json cpu.json "\" \".join(d[\"rows\"][0][\"fitted\"])")"'
check "the multicast of InfiniBand is a fitted value" is multicast_us \
    "$(sim delay --nodes 4 --json >fitted.json && json fitted.json '" ".join(d["fitted"])')"
check "a value set by the user is not reported as fitted" is noise_us \
    "$(sim cpu $small --set signal_us=3 --json >set.json && json set.json '" ".join(d["fitted"])')"
check "CSV has the same rows" "$PYTHON" -c '
import csv, io, json, subprocess, sys
text = subprocess.run(sys.argv[1:], capture_output=True, text=True, check=True).stdout
rows = list(csv.DictReader(io.StringIO(text)))
other = json.load(open("cpu.json"))["rows"]
assert len(rows) == len(other)
for row, one in zip(rows, other):
    assert row["algo"] == one["algo"] and float(row["cpu_us"]) == one["cpu_us"], (row, one)
    assert row["seed"] == "1" and row["network"] == "myrinet2000" and row["commit"], row' \
    "$STAGGER" sim cpu --algo 'bypass,handoff(split=1)' $small --csv
check "the table names the seed, the network and the fitted values" all \
    'sim cpu $small >table' 'has table "^network myrinet2000: latency_us 5.9 "' \
    'has table "^seed 1, 50 iterations, mode signal, .* fitted: signal_us"' \
    'has_lines table "^bypass " 4'
check "the same seed gives the same rows, another seed gives others" all \
    'sim cpu $small --stats --csv | cut -d, -f1-12,16- >one' \
    'sim cpu $small --stats --csv | cut -d, -f1-12,16- >two' 'same one two' \
    'sim cpu $small --stats --csv --seed 2 | cut -d, -f1-12,16- >three' '! cmp -s one three'
check "without skew and noise, bypass needs an interrupt for every message inside the tree" \
    is 4.0 "$(sim cpu --nodes 8 --skew-us 0 --elements 1 --set noise_us=0 --json >late.json &&
        json late.json 'd["rows"][0]["signals"]')"

sim delay --algo adaptive,tree --nodes 16,256 --late deepest:2x --json >delay.json 2>delay.err
check "sim delay prints delays and their multiples of a multicast" all 'empty delay.err' \
    '"$PYTHON" -c "
import json
rows = json.load(open(\"delay.json\"))[\"rows\"]
assert len(rows) == 4
for row in rows:
    assert abs(row[\"delay_us\"] / row[\"multicast_us\"] - row[\"multicasts\"]) < 0.01, row
assert rows[0][\"delay_us\"] == rows[1][\"delay_us\"] < rows[2][\"delay_us\"] < rows[3][\"delay_us\"]"'
check "an allreduce is simulated likewise" all \
    'sim delay --op allreduce --algo adaptive,pairwise,tree --nodes 5 --late 1:30,3-4:10 --csv >all.csv' \
    'has_lines all.csv "^[a-z]+,allreduce,5,128,\"1:30,3-4:10\"," 3'
check "a broadcast is simulated from any root, and the late node delays only itself" all \
    'sim delay --op bcast --algo bypass --root 3 --nodes 8 --late 3:500 --json >root.json' \
    'sim delay --op bcast --algo bypass --root 3 --nodes 8 --late 5:500 --json >other.json' \
    'is True "$(json root.json "d[\"rows\"][0][\"delay_us\"] > 10")"' \
    'is True "$(json other.json "d[\"rows\"][0][\"delay_us\"] < 2")"'
check "the default algorithms are bypass and tree" is "bypass bcast tree bcast" \
    "$(sim delay --op bcast --json >defaults.json &&
        json defaults.json '" ".join(r["algo"] + " " + r["op"] for r in d["rows"])')"
check "sim cpu reports broadcasts, too: bypass against the blocking binomial tree" all \
    'sim cpu --op bcast $small --json >cpu_bcast.json' \
    'is "bcast" "$(json cpu_bcast.json "d[\"rows\"][0][\"op\"]")"' \
    'is True "$(json cpu_bcast.json "d[\"rows\"][3][\"factor\"] > 1")"'
check "one node runs the forms of srm, by size or as requested" "$PYTHON" -c '
import json, subprocess, sys
def delay(*more):
    text = subprocess.run([sys.argv[1], "sim", "delay", "--op", "allreduce", "--algo", "srm", "--nodes", "1",
                           "--ranks-per-node", "4", "--late", "3:100", "--json", *more],
                          capture_output=True, text=True, check=True).stdout
    return json.loads(text)["rows"][0]["delay_us"]
for elements, way in ("128", "flat"), ("512", "climb"), ("4096", "chunks"):
    of = {one: delay("--elements", elements, "--node-level", one) for one in ("flat", "climb", "chunks")}
    assert len(set(of.values())) == 3, of
    assert delay("--elements", elements) == of[way], (elements, of)' "$STAGGER"
check "--stats prints events, memory and the history" \
    all 'sim delay --nodes 16 --algo tree --stats --json >stats.json' \
    'is True "$(json stats.json "d[\"rows\"][0][\"events\"] > 0")"' \
    'has stats.json "\"history\": \"[0-9a-f]{16}\""'

# requests COMMAND ALGO OPTION...: a call's sends, releases, writes, cell writes, fetch-and-adds, reads
requests() {
    local command=$1 algo=$2
    shift 2
    sim "$command" --algo "$algo" "$@" --stats --json >requests.json && json requests.json \
        '" ".join("%g" % d["rows"][0][k] for k in
            "sends releases writes cell_writes fetch_adds reads".split())'
}
check "a barrier of srm among 8 nodes sends a word to each of 3 partners" \
    is "0 0 0 24 0 0" "$(requests delay srm --nodes 8)"
check "... among 5 nodes it sends one to each of 2, and the pair that folds sends two" \
    is "0 0 0 10 0 0" "$(requests delay srm --nodes 5)"
check "an allreduce of srm sends a value and a word for each" \
    is "0 0 24 24 0 0" "$(requests delay srm --nodes 8 --op allreduce)"
check "... chunks go up a tree and down again" is "0 0 14 14 0 0" \
    "$(requests delay 'srm(chunk=1)' --nodes 8 --op allreduce --elements 256 --chunk 0)"
check "a broadcast of srm sends a value and a word for each node but the root, and a word back for two" \
    is "0 0 7 10.5 0 0" "$(requests delay srm --nodes 8 --op bcast --iterations 32)"
# data ALGO ELEMENTS OPTION...: sends, and values written, in one broadcast among 8 nodes
data() {
    local algo=$1 elements=$2
    shift 2
    requests delay "$algo" --nodes 8 --op bcast --elements "$elements" --iterations 1 --warmup 0 "$@" |
        cut -d' ' -f1,3
}
check "calls are cut into chunks of 1 KiB, or of 16 KiB for srm, as in the library" \
    is "7 0, 14 0, 14 0, 0 7, 0 14, 0 21" "$(data tree 128), $(data tree 129), $(data tree 256), $(
        )$(data srm 2048), $(data srm 2049), $(data 'srm(chunk=8)' 3072)"
check "... --chunk sets another size, or none" is "21 0, 7 0" \
    "$(data tree 129 --chunk 512), $(data tree 256 --chunk 0)"
check "a reduce of srm sends a value and a word for each, and a word back for two of them" \
    is "0 0 7 10.5 0 0" "$(requests cpu srm --nodes 8 --skew-us 0 --iterations 16)"
check "a barrier of handoff needs two fetch-and-adds for each node of its tree, and a release" \
    is "7 0 0 0 14 0" "$(requests delay handoff --nodes 8)"
check "a barrier of adaptive needs one message for each node and one multicast" \
    is "7 1 0 0 0 0" "$(requests delay adaptive --nodes 8)"
check "a barrier of tree needs the same" is "7 1 0 0 0 0" "$(requests delay tree --nodes 8)"

# ---- large sizes ---------------------------------------------------------------------------------

sim delay --algo adaptive,tree --nodes 65536 --late last:500 --iterations 1 --warmup 0 --stats \
    --json >large.json
check "65536 processes need at most 1 KiB each" is "True True" \
    "$(json large.json '" ".join(str(r["process_bytes"] <= 1024) for r in d["rows"])')"

# ---- networks --------------------------------------------------------------------------------------

for network in myrinet2000 infiniband-sdr qsnet colony 200g; do
    check "the output names network $network with its source" all \
        'sim delay --network '$network' --nodes 4 --json >network.json' \
        'is True "$(json network.json "len(d[\"network\"][\"source\"]) > 3")"'
done
mkdir -p prefix/bin prefix/share/stagger/networks
cp "$STAGGER" prefix/bin/stagger
printf 'latency_us = 3\noverhead_us = 1\ngap_ns_per_byte = 1\n' >prefix/share/stagger/networks/own.conf
check "an installed command finds the networks beside it" \
    prefix/bin/stagger sim delay --network own --nodes 4
check "a network may be a file's path" sim delay --network ./prefix/share/stagger/networks/own.conf

# ---- figures and claims ----------------------------------------------------------------------------

check "plot --list lists the figures" all 'sim plot --list >list' 'has_lines list "^000-" 8' 'has_lines list "^001-" 6' \
    'has_lines list "^002-" 9' 'has_lines list "^003-" 13' 'has_lines list "^004-" 7'
if command -v gnuplot >/dev/null; then
    check "a figure is drawn as SVG" all \
        'sim plot 002-8 -o figures --iterations 5 >drawn' 'has drawn "^figures/002-8.svg$"' \
        'has figures/002-8.svg "<svg"' 'has figures/002-8.svg "dissemination"'
    check "figures of paper 001 show slices and run times" all \
        'sim plot 001-5.4 -o figures >drawn' 'has figures/001-5.4.svg "<svg"' \
        'sim plot 001-6.2 -o figures >drawn' 'has figures/001-6.2.svg "calls return with the next slice"'
    check "paper 000's figures are named by their number alone, too" all \
        'sim plot 6b -o figures --iterations 5 >drawn' 'has figures/000-6b.svg "128 elements"'
    check "the values in a paper's text are drawn beside ours" all \
        'has figures/000-6b.svg "paper 000"' 'sim plot 004-6b -o figures --iterations 5 >drawn' \
        'has figures/004-6b.svg "paper 004"' 'sim plot 004-2 -o figures >drawn' \
        '! has figures/004-2.svg "paper 004"' 'sim plot 003-9a -o figures >drawn' \
        'has figures/003-9a.svg "paper 003"'
else
    skip "figures are drawn" "no gnuplot"
fi
PATH=$WORK/prefix "$STAGGER" sim plot 002-8 >none.out 2>none.err
check "without gnuplot plot says so in one line" all "is 1 $?" 'empty none.out' \
    'is "stagger: sim: gnuplot is not installed" "$(cat none.err)"'

# ---- bad usage and bad input -----------------------------------------------------------------------

check "an unknown root is refused" refused 1 "no root 4 among 4 nodes" delay --op bcast --root 4 --nodes 4
check "an unknown command of sim is bad usage" refused 2 "'fly' is not a command of sim" fly
check "no command is bad usage" all '! "$STAGGER" sim >none.out 2>none.err' 'empty none.out' 'has none.err "^usage: stagger sim COMMAND"'
check "an unknown algorithm is bad usage" refused 2 "no such algorithm: 'magic'; there are [a-z, ]*bypass[a-z, ]*tree" cpu --algo magic
check "an unknown parameter is bad usage" refused 2 "no such parameter" cpu --algo 'bypass(x=1)'
check "a parameter out of range is bad usage" refused 2 "value is out of range" \
    cpu --algo 'adaptive(tokens=5)'
check "an invalid number is bad usage" refused 2 "--nodes wants whole numbers from 1 to [0-9]+, not 'four'" \
    cpu --nodes 2,four
check "an empty list is bad usage" refused 2 "wants whole numbers" cpu --elements ''
check "--json with --csv is bad usage" refused 2 "json cannot be combined with --csv" cpu --json --csv
check "an unknown mode is bad usage" refused 2 "signal, thread or poll, not 'dream'" \
    cpu --mode dream
check "late ranks that do not parse are bad usage" refused 2 "not RANKS:US" delay --late 3
check "an unknown operation is bad usage" refused 2 "barrier, allreduce, reduce or bcast, not 'gather'" \
    delay --op gather
check "an argument is bad usage" refused 2 "unexpected argument 'x'" delay x
check "an unknown network is refused" refused 1 "no network 'token-ring'" cpu --network token-ring
check "a bad value is refused" refused 1 "'speed=3': no such key" delay --set speed=3
check "a late rank beyond the last is refused" refused 1 "no rank 16 among 16" delay --late 16:5
check "a root beyond the last node is refused" refused 1 "no root 2 among 2 nodes" \
    cpu --nodes 4,2 --root 2
check "an operation that the algorithm lacks is refused" refused 1 "bypass has no barrier" \
    delay --algo bypass
check "an unknown figure is refused" refused 1 "no figure '99'" plot 99
check "no figure is bad usage" refused 2 "FIGURE is missing" plot
check "a full disk is an error" all '! sim cpu $small >/dev/full 2>full.err' \
    'is "stagger: the output cannot be written: No space left on device" "$(cat full.err)"'
