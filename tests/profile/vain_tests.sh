#!/bin/bash
# Tests that find nothing: all are counted, and the test that ends them reports for how long its
# thread has polled, by the program's own counts and clock.
. "$(dirname "$0")/../lib/sh.sh"

mkdir alone && cp "$LIB" alone/

observe counted 1 "$PROGRAMS/vain_tests"
check "a program that tests in vain runs" ran_well counted
read -r _ tests probes all_ns < <(grep '^all' counted.out)
report_json counted.trace counted.json
check "every test that finds nothing is counted" is "$probes $tests" \
    "$(json counted.json '" ".join(str(f["calls"]) for f in sorted(d["functions"], key=lambda f: f["mpi_function"])
        if f["mpi_function"] in ("MPI_Test", "MPI_Iprobe"))')"
check "... their time is within the program's" is True \
    "$(json counted.json "0 < sum(f['time_ns'] for f in d['functions'] if f['mpi_function'] in ('MPI_Test', 'MPI_Iprobe')) <= $all_ns")"

PRELOAD=$WORK/alone/libstagger.so observe polled 1 "$PROGRAMS/vain_tests"
"$BUILD/tests/profile/print_log" polled.trace/rank-000000.log | awk '/ MPI_Test / { print $NF }' >reported
awk '/^round/ { print $2 }' polled.out >own
check "the test that finds the message has an event, and no other" is "$(wc -l <own)" "$(wc -l <reported)"
check "it reports that its thread has polled" grep -q '^[0-9][0-9]*$' reported
check "... since its work, by the program's clock" is "" \
    "$(paste own reported | awk '$1 > 0 && $2 ~ /^[0-9]+$/ && $2 > $1 + 1000')"
