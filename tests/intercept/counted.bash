# Counts MPI calls with a library of the test's own; sourced after sh.sh.
# shellcheck shell=bash

# make_counter: builds counter.so in the working directory
make_counter() {
    local fortran
    fortran=$(ldconfig -p | sed -n 's/.*libmpichfort\.so.* => //p' | head -n 1)
    nm -D --defined-only "${fortran:-/dev/null}" 2>/dev/null | awk '$3 ~ /_f08_$/ { print $3 }' >fortran
    "$PYTHON" "$ROOT/tests/intercept/make_counter.py" "$ROOT/shim/profile/functions.table" fortran >counter.c &&
        gcc -w -O1 -shared -fPIC -o counter.so counter.c -ldl
}

# counted_alike SENTENCE RANKS PROGRAM...: stagger's report and the counter have the same counts
counted_alike() {
    local sentence=$1 ranks=$2
    shift 2
    rm -rf counts counted.trace
    COUNTS=$PWD/counts STAGGER_TRACE=stats PRELOAD="$PWD/counter.so:$LIB" observe counted "$ranks" "$@"
    awk '{ sum[$1] += $2 } END { for (name in sum) print name "," sum[name] }' counts | LC_ALL=C sort >by_counter
    "$STAGGER" report --csv=functions counted.trace 2>report.err |
        "$PYTHON" -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print("%s,%s" % (row["mpi_function"], row["calls"]))' | LC_ALL=C sort >by_report
    # shellcheck disable=SC2154 # observe sets it
    check "$sentence: each function is counted as often as by an independent library" \
        all "is 0 $status" 'test -s by_counter' 'same by_counter by_report'
}
