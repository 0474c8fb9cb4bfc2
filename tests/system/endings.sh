#!/bin/bash
# Runs that do not reach MPI_Finalize: their logs become an archive that is marked partial.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/dying.bash"

rounds=300

# gives STATUS MODE: an exit status that is possible without the library. Stock MPICH gives one of
# two statuses to ranks that exit at once without MPI_Finalize (5, and in one run of twelve 1).
gives() {
    local tries
    for ((tries = 0; tries < 200; tries++)); do
        compare "$2" 2 "$PROGRAMS/ending" "$2" "$rounds"
        [ "$plain_status" = "$1" ] && return 0
    done
    is "$plain_status" "$1"
}

for mode in abort kill crash exit _exit; do
    observe "$mode" 2 "$PROGRAMS/ending" "$mode" "$rounds"
    check "a run that ends by $mode has an exit status it can have without the library" \
        gives "$status" "$mode"
    check "its logs are there and no archive exists ($mode)" all "absent $mode.trace/traces.otf2" \
        "[ -s $mode.trace/rank-000000.log ]" "[ -s $mode.trace/rank-000001.log ]"
    "$STAGGER" recover "$mode.trace" >"$mode.recover" 2>&1
    check "stagger recover makes an archive of them ($mode)" is 0 $?
    check "the archive is sound ($mode)" archive_sound "$mode.trace"
    report_json "$mode.trace" "$mode.json"
    check "its report is marked partial ($mode)" is "True 2" \
        "$(json "$mode.json" 'str(d["partial"]) + " " + str(d["ranks"])')"
    check "the report has every call that completed on all ranks ($mode)" is "$((4 * rounds))" \
        "$(json "$mode.json" 'sum(s["calls"] for s in d["sites"])')"
    check "the report's text says partial ($mode)" has <("$STAGGER" report --all "$mode.trace" 2>&1) partial
done

# A missing log, a log truncated in mid-record, a log of another version, something else altogether.
observe source 2 "$PROGRAMS/ending" kill "$rounds"
damage() {
    rm -rf damaged && mkdir damaged && cp source.trace/rank-*.log damaged/ && "$@"
}
cut_off() { truncate -s "$(($(stat -c %s damaged/rank-000001.log) * 2 / 3 + 13))" damaged/rank-000001.log; }
other_version() { printf '\x63' | dd of=damaged/rank-000001.log bs=1 seek=8 conv=notrunc status=none; }
not_a_log() { echo nothing >damaged/rank-000001.log; }
damage cut_off
"$STAGGER" recover damaged >recover.out 2>recover.err
check "recover reads a log cut off in mid-record up to the cut" all "is 0 $?" \
    'archive_sound damaged' 'report_json damaged damaged.json' \
    'within 1 $((4 * rounds)) "$(json damaged.json "sum(s[\"calls\"] for s in d[\"sites\"])")"'

for fault in other_version not_a_log; do
    damage "$fault"
    "$STAGGER" recover damaged >recover.out 2>recover.err
    status=$?
    check "an unreadable log is reported in one line with its name ($fault)" all 'within 0 1 "$status"' \
        'has_lines recover.err "rank-000001" 1'
done
mkdir nothing
"$STAGGER" recover nothing >recover.out 2>recover.err
status=$?
check "a directory without logs is reported in one line with status 1" \
    all 'is 1 "$status"' 'has_lines recover.err . 1'
"$STAGGER" report --all nothing >recover.out 2>recover.err
status=$?
check "the report refuses it likewise" all 'is 1 "$status"' 'has_lines recover.err . 1'
check "nothing of the library is left in /dev/shm" no_shared_memory
