#!/bin/bash
# stagger export --perfetto: the JSON is what the format asks for, of runs written by hand and of
# programs that ran; memory does not grow with the run; bad usage and bad input.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/progress/progress.bash"
. "$ROOT/tests/internode/internode.bash"

for program in make_archive make_large; do
    "${CC:-gcc}" -O1 -std=gnu11 -D_GNU_SOURCE -I"$ROOT/shim" -I"$ROOT/tests" \
        "$ROOT/tests/report/$program.c" -o "$program" -lotf2 || {
        echo "not ok - the fixtures' writer compiles"
        exit 1
    }
done
for kind in known foreign without-collectives without-events; do
    ./make_archive "$kind" "$kind" || exit 1
done
mkdir statistics && ./make_archive statistics statistics

# sound NAME DIR: the export of DIR is sound; its counts are in NAME.counts.
sound() {
    "$STAGGER" export --perfetto "$1.json" "$2" 2>"$1.err" || { cat "$1.err"; return 1; }
    "$PYTHON" "$ROOT/tests/perfetto/check_trace.py" "$1.json" >"$1.counts" || { cat "$1.counts"; return 1; }
}

# counts NAME EXPRESSION
counts() { json "$1.counts" "$2"; }

# The known run has 5 instances on four ranks, one on two and two of one rank: 24 slices. Whoever
# waited has a flow: 3 + 3 + 3 in the barriers, the root in the first reduce. The second's root, and
# by its clock rank 2 of `half`, had left before the last one came.
check "the export of a known run is sound" sound known known
check "its slices are its calls, and its flows those that waited" is "24 0 10 0" \
    "$(counts known '"%d %d %d %d" % (d["collectives"], d["late"], d["flows"], d["spans"])')"
check "what ranks waited adds up to the report's figure" is 30.7 "$(counts known 'd["wait_us"]')"
check "every rank is a process, and all are one" is "5 8" \
    "$(counts known '"%d %d" % (d["processes"], d["threads"])')"
check "what calls counted are counters" is \
    "early messages,late messages,signals,skew (us) on MPI_COMM_WORLD,skew (us) on half" \
    "$(counts known '",".join(d["counters"])')"
check "names of any bytes are text" has <(counts known '"\n".join(d["names"])') \
    '^reduce f\\xff\\x1b na\\xefme,"x".c:7$'
check "incomplete instances are left out, and one line says so" \
    has known.err '^stagger: export: 2 calls of incomplete instances are left out$'
check "another tool's archive is exported" all 'sound foreign foreign' \
    'is "allreduce barrier reduce" "$(counts foreign "\" \".join(d[\"names\"])")"'
check "an archive without collectives has ranks and no slices" \
    all 'sound none without-collectives' 'is 0 "$(counts none "d[\"collectives\"]")"'
check "- is standard output" all '"$STAGGER" export --perfetto - known >stdout.json 2>/dev/null' \
    'same known.json stdout.json'

# ---- programs that ran ---------------------------------------------------------------------------

words=$WORK/words
RULES='reduce=bypass;*=mpich' run_late late thread "$PROGRAMS/late" async "$words" 10
check "what came late are slices" all 'sound late late.trace' 'is 10 "$(counts late "d[\"late\"]")"'
run_across posts thread 1 '*=adaptive;*=bypass' 3 "$PROGRAMS/posts" mixed
check "nonblocking collectives are spans" all 'sound posts posts.trace' \
    'within 1 1000000 "$(counts posts "d[\"spans\"]")"'

# ---- memory --------------------------------------------------------------------------------------

# peak_kib COMMAND...
peak_kib() {
    "$PYTHON" -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}
./make_large 20 500 10 short && ./make_large 20 5000 10 long || exit 1
check "the export of a larger run is sound" all 'sound short short' \
    'is 10000 "$(counts short "d[\"collectives\"]")"'
if grep -q __asan_init "$STAGGER"; then
    skip "memory does not grow with the run" "a sanitizer build"
else
    small=$(peak_kib "$STAGGER" export --perfetto /dev/null short)
    large=$(peak_kib "$STAGGER" export --perfetto /dev/null long)
    check "memory does not grow with the run" within 0 $((small + small / 10)) "$large"
fi

# ---- bad usage and bad input -----------------------------------------------------------------------

# refused STATUS REGEX ARGUMENT...: that exit status, one line that matches, no file.
refused() {
    local expected=$1 regex=$2
    shift 2
    "$STAGGER" export "$@" >refused.out 2>refused.err
    is "$expected" $? && empty refused.out && has refused.err "$regex" &&
        is 1 "$(grep -c '^stagger' refused.err)" && absent out.json && is "" "$(ls | grep '^out')"
}
check "no form is bad usage" refused 2 "perfetto FILE is missing" known
check "no directory is bad usage" refused 2 "DIR is missing" --perfetto out.json
check "two directories are bad usage" refused 2 "one DIR at a time" --perfetto out.json known known
check "a directory that is not there is refused" refused 1 "No such file" --perfetto out.json nowhere
check "statistics alone are refused" refused 1 "contains statistics but no events" \
    --perfetto out.json statistics
check "an archive without events is refused" refused 1 "without events" \
    --perfetto out.json without-events
cp -r known cut && truncate -s 100 cut/traces/0.evt
check "an archive cut short is refused, and leaves no file" refused 1 "damaged events" \
    --perfetto out.json cut
echo precious >kept.json
check "a failure leaves the file that was there" all \
    '! "$STAGGER" export --perfetto kept.json cut 2>/dev/null' 'has kept.json precious'
check "a directory as the file is refused" refused 1 "known: is a directory" --perfetto known known
check "a place that cannot be written is refused" refused 1 "No such file" \
    --perfetto nowhere/out.json known
check "a full disk is one line" all '! "$STAGGER" export --perfetto /dev/full long 2>full.err' \
    'is 1 "$(grep -c ^stagger: full.err)"' 'has full.err "/dev/full: cannot be written"'

if command -v valgrind >/dev/null && ! grep -q __asan_init "$STAGGER"; then
    check "valgrind finds nothing in an export" \
        bash -c "valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
            --suppressions='$ROOT/tests/report/valgrind.supp' \
            '$STAGGER' export --perfetto /dev/null known 2>/dev/null"
else
    skip "valgrind on an export" "no valgrind, or a sanitizer build"
fi
