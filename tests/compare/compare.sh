#!/bin/bash
# stagger compare as users run it: golden outputs of hand-written runs, options, bad input.
# STAGGER_GOLDEN=1 rewrites the golden files.
golden_update=${STAGGER_GOLDEN:-}
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=compare
. "$ROOT/tests/report/golden.bash"

fixtures compare/make_pair report/make_archive report/make_traffic
./make_pair a b || exit 1
for kind in known foreign without-collectives statistics long short; do
    [ "$kind" = statistics ] && mkdir statistics
    ./make_archive "$kind" "$kind" || exit 1
done

check "the text of a comparison is the golden one" golden pair.txt a b
check "the JSON of it is the golden one" golden pair.json --json a b
check "each row's id and bytes are unique" all \
    'has pair.txt "^  id +op +call site +algo +calls +bytes +per call "' \
    'has pair.txt "^  0000000a  barrier +solve solver.c:88 +mpich +32 +0B +blocked "' \
    'has pair.txt "^  0000000b  reduce +norm solver.c:120 +mpich +32 +8B +blocked "'
check "a run does not differ from itself" all '"$STAGGER" compare a a >same.txt' \
    'lacks same.txt "differs"' 'has same.txt "within the noise"'
check "two runs differ, but do not show which side is better" all \
    '"$STAGGER" compare b a >two.txt' 'has two.txt "differs between these two runs at 2"' 'lacks two.txt "(less|more) in B"' \
    'has two.txt "repeat: stagger compare A1 A2 -- B1 B2"' \
    'lacks <("$STAGGER" compare --json b a) "\"(less|more)\""' \
    '"$STAGGER" compare --html two.html b a' 'lacks two.html ">(less|more) in B<"' 'has two.html "Repeated runs show"'
check "swapping several runs swaps the sides" all \
    'has <("$STAGGER" compare b b -- a a) "more in B at 2"' 'has <("$STAGGER" compare a a -- b b) "less in B at 2"'
check "another tool's archive is compared by operation" \
    has <("$STAGGER" compare foreign foreign) '^3 call sites in both'
check "two runs without collectives have nothing in common" \
    has <("$STAGGER" compare a without-collectives) '^0 call sites in both'
check "statistics are compared without intervals" all \
    '"$STAGGER" compare statistics statistics >statistics.txt' \
    'has statistics.txt "A has no events: there are no intervals"' \
    'has statistics.txt "not known"'
check "different numbers of ranks are reported" \
    has <("$STAGGER" compare a known) 'note: 2 ranks against 4'

# figures NAME FIELD: the field's values of a CSV, one a line
figures() {
    python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")): print(row[sys.argv[2]])' "$1" "$2"
}

check "wait states are compared as CSV" all '"$STAGGER" compare --csv=waits a b >waits.csv' 'is 3 "$(wc -l <waits.csv)"' \
    'has waits.csv "^wait at barrier,MPI_Barrier,0000000a,solve,.*,id,1,16,6400,1,16,1600,6400,1600,-4800,-0.75,"'
check "an unknown table is bad usage" refused 2 "--csv wants sites, functions, calls, waits or runs, not .nonsense." --csv=nonsense a b
check "the CSV of it is the golden one" golden pair.csv --csv a b
check "CSV has the fields of the JSON's sites" python3 -c '
import csv, json
rows = list(csv.DictReader(open("pair.csv", newline="")))
sites = json.load(open("pair.json"))["sites"]
assert len(rows) == len(sites) == 4
for row, site in zip(rows, sites):
    assert None not in row
    flat = {}
    for name, value in site.items():
        if name == "per_call":
            for measured in ("blocked", "wait", "processor"):
                for field, figure in (value or {}).get(measured, {}).items():
                    flat[measured + "_" + field] = figure
        elif name in ("a", "b"):
            for field, figure in (value or {}).items():
                flat[name + "_" + field] = figure
        else:
            flat[name] = value
    for name, value in flat.items():
        if isinstance(value, float):
            assert abs(float(row[name]) - value) <= 1e-9 * abs(value), name
        else:
            assert row[name] == ("" if value is None else str(value)), name
    assert all(row[name] == "" for name in row if name not in flat)
'
check "rows are sorted by field, texts upwards and figures downwards" all \
    '"$STAGGER" compare --csv --sort op a b >op.csv' \
    'is "barrier reduce allreduce allreduce" "$(figures op.csv op | xargs)"' \
    '"$STAGGER" compare --csv --sort bytes a b >bytes.csv' \
    'is "reduce barrier allreduce allreduce" "$(figures bytes.csv op | xargs)"' \
    '"$STAGGER" compare --csv --sort "B - A" a b >difference.csv' \
    'is "0000000a 0000000b 0000000c 0000000d" "$(figures difference.csv id | xargs)"' \
    '"$STAGGER" compare --csv --sort change a b >change.csv' \
    'is "0000000b 0000000a 0000000c 0000000d" "$(figures change.csv id | xargs)"'
check "--top keeps the first rows of both runs, and of each run alone" all \
    '"$STAGGER" compare --top 1 --sort bytes a b >top.txt' \
    'has top.txt "0000000b"' 'lacks top.txt "0000000a"' 'has top.txt "^2 call sites in both"' \
    'has top.txt "0000000d"' 'has top.txt "note: 1 further call site is not shown"' \
    '"$STAGGER" compare --csv --top 1 a b >top.csv' \
    'is "0000000a 0000000c 0000000d" "$(figures top.csv id | xargs)"' \
    '"$STAGGER" compare --html top.html --top 1 a b' 'has top.html "1 more call site"'

check "an unknown field is bad usage" refused 2 \
    "--sort: no column .skew.; there are: id op site" --sort skew a b
check "--top needs a number" refused 2 "--top wants a number from 1 to 4294967295, not .0." --top 0 a b
check "--csv cannot be combined with the other outputs" all 'refused 2 "json cannot be combined with --csv" --json --csv a b' \
    'refused 2 "html cannot be combined with --csv" --csv --html x.html a b'
check "the text of several runs a side is the golden one" golden several.txt a b a -- b b
check "the JSON of several runs a side is the golden one" golden several.json --json a b a -- b b
check "one run can be compared with several" all \
    '"$STAGGER" compare a -- b b a >against.txt' \
    'has against.txt "^A  cg, "' 'has against.txt "^B3 cg, "' \
    'has against.txt "note: A is a single run: the spread of B is assumed for it"'
check "with two runs, -- is optional" all '"$STAGGER" compare a -- b >divided.txt' \
    'same pair.txt divided.txt' '"$STAGGER" compare -- a b >in_front.txt' \
    'same pair.txt in_front.txt'
check "options may stand among the runs of A" all '"$STAGGER" compare a --csv a -- b b >among.csv' \
    'is "2 2" "$(figures among.csv a_runs | head -n 2 | xargs)"'
check "the page of several runs has all of them" all \
    '"$STAGGER" compare --html several.html a b a -- b b' 'has several.html ">A3: a/traces.otf2<"' \
    'has several.html ">B2: b/traces.otf2<"' 'has several.html "means over its 3 runs"'
check "statistics of several runs have intervals" all \
    '"$STAGGER" compare statistics statistics -- statistics statistics >spread.txt' \
    'has spread.txt "blocked .*within the noise"' 'has spread.txt "wait .*not known"' \
    'has spread.txt "note: A2 has no events: waiting times are unknown"'
check "a missing run among several is refused" refused 1 "nowhere: No such file" \
    a b -- b nowhere

# ---- all calls of MPI: three calls of 2.1 us together at each call site, and MPI_Init, 100 ns per rank

for sites in 3 4 8 9; do
    mkdir "t$sites" && ./make_traffic 4 "$sites" "t$sites" || exit 1
done
mkdir rebuilt && ./make_traffic 4 3 rebuilt 100 || exit 1
"$STAGGER" compare t3 t8 >calls.txt
check "functions and call sites of all calls have their time per run" all \
    'has calls.txt "^in MPI: 1\.7% of rank time in A, 4\.3% in B; functions, time per run:"' \
    'has calls.txt "^  MPI_Send +9 > 24 +6\.30us +16\.8us +\+10\.5us +\+166\.7%$"' \
    'has calls.txt "^  MPI_Send +exchange_3 part_0\.c:13 +3 +2\.10us +2\.10us +0ns +\+0\.0%$"' \
    'has calls.txt "^  MPI_Send +exchange_4 part_0\.c:14 +- > 3 +- +2\.10us +- +-$"'
# Means are 7.35 and 17.85 us, each of two runs 2.1 us apart: 10.5 us and 4.303 times 1.485 us.
"$STAGGER" compare t3 t4 -- t8 t9 >runs.txt
check "with several runs a side, these times have intervals" all \
    'has runs.txt "^  MPI_Send +11 > 26 +7\.35us +17\.9us .* \+4\.11us \.\. \+16\.9us +more in B$"' \
    'has runs.txt "exchange_4 part_0\.c:14 +3 .* 0ns \.\. 0ns +within the noise$"' \
    'has runs.txt "exchange_9 part_0\.c:19 +- > 3 .* not known$"'
"$STAGGER" compare --json t3 t4 -- t8 t9 >runs.json
check "the JSON has these times" is "11 26 7350 17850 10500 4110 more|2 1 3 id None" "$(json runs.json \
    '"%d %d %d %d %d %d %s" % (d["functions"][0]["a"]["calls"], d["functions"][0]["b"]["calls"], *(d["functions"][0]["time"][k] for k in ("a_ns", "b_ns", "difference_ns", "low_ns", "verdict"))) + "|%d %d %d %s %s" % (d["calls"][0]["a"]["runs"], d["calls"][3]["a"]["runs"], d["calls"][3]["a"]["calls"], d["calls"][3]["matched_by"], d["calls"][4]["a"])')"
check "... MPI's share is on both sides" is "0.01675 0.043" "$("$STAGGER" compare --json t3 t8 >share.json &&
    json share.json '"%g %g" % (d["mpi_share"]["a"], d["mpi_share"]["b"])')"
check "call sites of a rebuilt program are matched by function, file and line" is "place place place" \
    "$("$STAGGER" compare --json t3 rebuilt >rebuilt.json &&
        json rebuilt.json '" ".join(c["matched_by"] for c in d["calls"])')"
check "--top cuts these rows, too" all '"$STAGGER" compare --top 2 t3 t8 >cut.txt' \
    'has cut.txt "time per run, 2 of 8:$"' 'lacks cut.txt "exchange_3"'
check "when one run lacks statistics of all calls, these are not compared" all \
    '"$STAGGER" compare t3 statistics >none.txt' 'lacks none.txt "^in MPI|MPI_Send"' \
    '"$STAGGER" compare --json t3 statistics >none.json' \
    'is "None None None" "$(json none.json "\" \".join(str(d[k]) for k in (\"mpi_share\", \"functions\", \"calls\"))")"'

# ---- the gate: waits take 3.2 us in b, and 8 in a; short is of a fifth of long's run time -------------

# gate STATUS REGEX ARGUMENT...: that exit status, one matching line on standard error
gate() {
    local expected=$1 regex=$2
    shift 2
    "$STAGGER" compare "$@" >gate.out 2>gate.err
    is "$expected" $? && is 1 "$(wc -l <gate.err)" && has gate.err "$regex"
}

check "a side that costs more fails the gate, and one that does not passes" all \
    'gate 1 "compare: fail: run time in B [+]400.0%, 99% interval [+]400.0% to [+]400.0%: above 5%$" --fail-above 5% short short short -- long long long' \
    'gate 0 "compare: pass: run time in B -80.0%, .*: not certainly above 5%$" --fail-above 5% long long long -- short short short' \
    'gate 0 "compare: pass: run time in B [+]400.0%, .*: not certainly above 401%$" --fail-above=401% short short short -- long long long' \
    'gate 0 "compare: pass: run time in B [+]0.0%, " --fail-above 0% a a a -- b b b'
check "... so in waiting, and in MPI" all \
    'gate 1 "fail: waiting for others in B [+]150.0%" --fail-above 5% --figure waiting b b b -- a a a' \
    'gate 0 "pass: waiting for others in B -60.0%" --fail-above 5% --figure waiting a a a -- b b b' \
    'gate 1 "fail: in MPI in B [+]156.7%" --fail-above 5% --figure mpi t3 t3 t3 -- t8 t8 t8' \
    'gate 2 "not judged: a run has no figure of waiting for others" --fail-above 5% -F waiting t3 t3 t3 -- t8 t8 t8'
check "with too few runs the gate does not pass, and says how many it takes" all \
    'gate 2 "not judged: --fail-above takes 3 runs per side [(]A has 1, B has 1[)]: stagger compare --fail-above 5% A1 A2 A3 -- B1 B2 B3" --fail-above 5% short long' \
    'gate 2 "A has 3, B has 2" -f 5% short short short -- long long'
check "the gate of runs that vary says how many runs would do" \
    gate 0 "pass: run time in B [+]0.0%.* about [0-9]+ runs per side would show twice the limit" --fail-above 5% short short short long -- short short short long
check "the gate holds for JSON, CSV and the page, too" all \
    'gate 1 "compare: fail" --json --fail-above 5% short short short -- long long long' 'mv gate.out gate.json' \
    'is "run 0.05 fail 4 4 4 3" "$(json gate.json "\" \".join(str(round(v, 6)) if isinstance(v, float) and v != int(v) else str(int(v)) if isinstance(v, float) else str(v) for v in d[\"gate\"].values())")"' \
    'gate 1 "compare: fail" --html gate.html --fail-above 5% short short short -- long long long' \
    'gate 1 "compare: fail" --csv=runs --fail-above 5% short short short -- long long long' \
    'has gate.out "^run,"' 'is 4 "$(wc -l <gate.out)"'
check "without the gate the JSON has none" is None "$(json pair.json 'd["gate"]')"
check "with the gate, a run that cannot be read has an exit status of its own" \
    gate 3 "nowhere: No such file" --fail-above 5% a a a -- nowhere b b
check "the limit is a percentage" all 'refused 2 "wants a percentage, such as 5%, not .5." --fail-above 5 a b' \
    'refused 2 "wants a percentage" --fail-above=-1% a b' 'refused 2 "wants a percentage" --fail-above nan% a b' \
    'refused 2 "figure .*--fail-above" --figure run a b'

check "runs of A without runs of B are bad usage" all 'refused 2 "B is missing" a a a --' \
    'refused 2 "B is missing" a b --' 'refused 2 "A and B are missing" --' \
    'refused 2 "takes two runs, or several per side" -- a a a'
check "one run is bad usage" refused 2 "B is missing" a
check "three runs are bad usage" refused 2 "takes two runs" a b a
check "an unknown option is bad usage" refused 2 "unrecognized option .--nonsense" --nonsense a b
check "a missing directory is refused" refused 1 "nowhere: No such file" a nowhere
check "an empty directory is refused" refused 1 "neither traces.otf2 nor" "$(mktemp -d -p .)" a
check "a full disk is an error" all '! "$STAGGER" compare a b >/dev/full 2>full.err' \
    'is "stagger: the output cannot be written: No space left on device" "$(cat full.err)"'

if command -v valgrind >/dev/null && ! grep -q __asan_init "$STAGGER"; then
    check "valgrind finds nothing in a comparison" \
        bash -c "valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
            --suppressions='$ROOT/tests/report/valgrind.supp' '$STAGGER' compare a b >/dev/null"
    check "... valgrind finds nothing in a comparison of several runs a side" \
        bash -c "valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
            --suppressions='$ROOT/tests/report/valgrind.supp' \
            '$STAGGER' compare --csv --top 1 --sort where a b a -- b b >/dev/null"
else
    skip "valgrind on a comparison" "no valgrind, or a sanitizer build"
fi
