#!/bin/bash
# A launcher's processes share the reading of an archive: output, exit status and complaints are
# those of one process, for any number of processes.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
golden_update=
. "$ROOT/tests/report/golden.bash"

fixtures report/make_archive report/make_messages report/make_large
./make_archive many many && ./make_archive foreign foreign && ./make_messages clocks clocks || exit 1
mkdir statistics && ./make_archive statistics statistics || exit 1
# More events on a location than are read at once.
./make_large 7 1300 40 long || exit 1
# 4096 and 4352 events on a location: in the end just as many are left as are read at once.
./make_large 2 1023 40 whole && ./make_large 2 1087 40 parts || exit 1

# shared N NAME ARGUMENT...: a report of N processes, into NAME.out, .err, .status
shared() {
    local processes=$1 name=$2
    shift 2
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" -n "$processes" "$STAGGER" report "$@" \
        </dev/null >"$name.out" 2>"$name.err"
    echo $? >"$name.status"
}

# as_one N ARGUMENT...: N processes print what one prints. A launcher adds lines of its own to
# stderr.
as_one() {
    local processes=$1
    shift
    "$STAGGER" report "$@" >one.out 2>one.err
    echo $? >one.status
    shared "$processes" all "$@"
    same one.out all.out && same one.status all.status &&
        same one.err <(if [ -s one.err ]; then grep '^stagger' all.err; else cat all.err; fi)
}

# page N DIR: likewise the page, but for the number that protects its script
page() {
    "$STAGGER" report --html one.html "$2" && shared "$1" page --html all.html "$2" &&
        cmp <(sed 's/nonce[-=]"*[0-9a-f]*//g' one.html) <(sed 's/nonce[-=]"*[0-9a-f]*//g' all.html)
}

mkdir files
for program in "known_waits 4 files" "known_windows 3" "threads 2"; do
    read -r program ranks directory <<<"$program"
    observe "$program" "$ranks" "$PROGRAMS/$program" ${directory:+"$directory"}
    check "$program ran" is 0 "$status"
    for processes in 2 3 5; do
        check "$program: $processes processes print the text that one prints" \
            as_one $processes --all "$program.trace"
    done
    check "$program: the JSON, too" as_one 3 --json "$program.trace"
    check "$program: the page, too" page 3 "$program.trace"
done
for run in many foreign clocks long whole parts; do
    check "$run: one process reads it" "$STAGGER" report --json $run
    check "$run: 3 processes print the JSON that one prints" as_one 3 --json $run
done
check "some of the ranks are reported alike" as_one 2 --csv --rank 0-1 known_waits.trace
check "statistics, too" as_one 2 --all statistics
check "locations that cannot all stay open are reported alike" \
    cmp <("$STAGGER" report --json long) <(ulimit -n 67 && "$STAGGER" report --json long)
# A program that a rank starts has the launcher's variables, but not its connection.
check "a report that a rank starts is of one process" \
    cmp <("$STAGGER" report --json many) <(PMI_SIZE=4 PMI_RANK=1 PMI_FD=99 "$STAGGER" report --json many)

# ---- complaints --------------------------------------------------------------------------------

check "a bad option has one line" as_one 3 --nonsense
check "a directory that does not exist has one line" as_one 3 /nonexistent
cp -r long cut && truncate -s 30000 cut/traces/4.evt && truncate -s 20000 cut/traces/5.evt
check "damaged events have one line, that of the first in time" as_one 3 --json cut
check "... and are refused" is 1 "$(cat one.status)"
cp -r long defless && truncate -s 20 defless/traces/{2,4}.def
check "damaged definitions of locations have one line, that of the first" as_one 3 --json defless
cp -r long gone && rm gone/traces/{1,5}.evt
check "missing events have one line" as_one 3 --json gone
export OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0
check "processes of Open MPI's launcher are refused" refused 1 "not with Open MPI's" many
