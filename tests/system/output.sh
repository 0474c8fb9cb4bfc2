#!/bin/bash
# Output that cannot be written: each case prints one clear line, and the program is unaffected.
. "$(dirname "$0")/../lib/sh.sh"

rounds=300
compare $rounds 2 "$PROGRAMS/calls" $rounds

# untouched NAME: results and exit status are those without the library.
untouched() {
    is 0 "$status" && lacks "$1.err" 'BAD TERM|assert|Bus error' &&
        same <(own_counts "$rounds.plain.out") <(own_counts "$1.out")
}

# in_directory DIRECTORY NAME: runs with STAGGER_DIR set to DIRECTORY; leaves and returns the exit
# status
in_directory() {
    local directory=$1 name=$2
    STAGGER_DIR=$directory mpirun_stagger 2 "$PROGRAMS/calls" "$rounds" >"$name.out" 2>"$name.err"
    status=$?
    return "$status"
}

mkdir taken.trace
echo mine >taken.trace/traces.otf2
observe taken 2 "$PROGRAMS/calls" "$rounds"
check "an existing directory stays untouched" all 'untouched taken' \
    'is mine "$(cat taken.trace/traces.otf2)"' 'is traces.otf2 "$(ls taken.trace)"'
beside=$(find . -maxdepth 1 -name 'taken.trace?*')
check "the next free name is used and reported" all 'is 1 "$(wc -w <<<"$beside")"' \
    'archive_agrees "$beside" taken.out' 'has taken.err "${beside#./}"'

echo file >file.trace
observe file 2 "$PROGRAMS/calls" "$rounds"
check "a file of the directory's name is not overwritten" \
    all 'untouched file' 'is file "$(cat file.trace)"'

in_directory "$WORK/none/such/place" missing
check "missing parent directories are made" all 'untouched missing' \
    'archive_agrees none/such/place missing.out'
in_directory "$WORK/file.trace/below" below
check "a directory that cannot be made is reported in one line" all 'untouched below' \
    'has_lines below.err "^stagger: " 1' 'has below.err "^stagger: .*file.trace/below.*Not a dir"'
in_directory /proc/stagger proc
check "a directory without permission to make it is reported in one line" all 'untouched proc' \
    'has_lines proc.err "^stagger: .*/proc/stagger" 1'
in_directory "$WORK/$(printf '%05000d' 0)" long
check "a name that is too long is reported in one line" all 'untouched long' \
    'has_lines long.err "^stagger: .*STAGGER_DIR" 1'
rm -rf stagger-*

compare 7000 2 "$PROGRAMS/calls" 7000
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=300k tmpfs small 2>/dev/null; then
    at_exit+=("umount '$WORK/small'")
    in_directory "$WORK/small/a" full
    check "a full disk is reported in one line, without SIGBUS" all 'untouched full' \
        'has_lines full.err "^stagger: " 1' 'has full.err "^stagger: .*No space left"'
    umount small && mount -t tmpfs -o size=4k tmpfs small
    in_directory "$WORK/small/a" tiny
    check "a disk too small for a log's first page is reported in one line" all 'untouched tiny' \
        'has_lines tiny.err "^stagger: " 1' 'has tiny.err "^stagger: .*No space left"'
    # Space for a log's first segments, but neither for the next nor for an archive.
    umount small && mount -t tmpfs -o size=3m tmpfs small
    rounds=7000
    in_directory "$WORK/small/a" half
    check "a disk that fills up during the run is reported in one line" all 'untouched half' \
        'has half.err "^stagger: .*No space left" || has half.err "partial"' \
        'within 2 4 "$(grep -c ^stagger: half.err)"'
else
    skip "a full disk is reported in one line, without SIGBUS" "only root may mount a small file system"
fi

if [ "$(id -u)" != 0 ]; then
    mkdir locked && chmod 555 locked
    in_directory "$WORK/locked/a" locked
    check "an unwritable directory is reported in one line" all 'untouched locked' \
        'has_lines locked.err "^stagger: .*locked" 1'
else
    skip "an unwritable directory is reported in one line" "root may write anywhere (/proc stands for it)"
fi

# MPICH itself writes files of some size; a log of one rank soon exceeds it.
limited() { (ulimit -f 5000 && "$@"); }
if limited plain 1 "$PROGRAMS/calls" 5 >/dev/null 2>&1; then
    compare limited 1 "$PROGRAMS/calls" 40000
    STAGGER_DIR=$WORK/limited.trace limited mpirun_stagger 1 "$PROGRAMS/calls" 40000 \
        >limited.out 2>limited.err
    status=$?
    check "a limit of file sizes below the log's size does not kill the program" all 'is 0 "$status"' \
        'same limited.plain.out limited.out' 'within 2 3 "$(grep -c ^stagger: limited.err)"'
    check "the log ends at the limit, and the archive is marked partial" \
        has limited.err '^stagger: .*partial'
else
    skip "a limit of file sizes does not kill the program" "MPICH itself does not run under one"
fi

rounds=7000
STAGGER_TRACE_BYTES=1m observe reached 2 "$PROGRAMS/calls" "$rounds"
check "a run beyond STAGGER_TRACE_BYTES goes on" untouched reached
check "its archive is sound and marked partial" all 'otf2-print --silent reached.trace/traces.otf2' \
    '"$PYTHON" "$ROOT/tests/lib/check_archive.py" --counts reached.trace/traces.otf2 >reached.counts' \
    'report_json reached.trace reached.json' 'is True "$(json reached.json "d[\"partial\"]")"'
# Samples between calls get an eighth of the space.
check "the archive holds the part within the limit" within 28000 $((2 * 1024 * 1024 / 64)) \
    "$("$PYTHON" -c '
import json, sys
print(sum(sum(json.loads(line)[op] for op in ("barrier", "reduce", "allreduce")) for line in sys.stdin))' <reached.counts)"
check "the critical path ends where the log was full, and tables say so" all \
    'is True "$(json reached.json "0 < d[\"critical_path\"][\"path_ns\"] <= d[\"recorded_ns\"] < d[\"run_ns\"]")"' \
    '"$STAGGER" report --all reached.trace >reached.txt' 'has reached.txt "^note: .*a log was full, .* of the first [0-9.]+m?s of "' \
    'has <(grep -B 1 "^critical path" reached.txt) "\(events cover the first [0-9.]+m?s of "'
wanted=$(sed -n 's|^ *to record all: STAGGER_TRACE_BYTES=||p' reached.txt)
STAGGER_TRACE_BYTES=$wanted observe enough 2 "$PROGRAMS/calls" "$rounds"
check "with the STAGGER_TRACE_BYTES that the report names the archive is whole" all 'has <(echo "$wanted") "^[0-9]+m$"' \
    'report_json enough.trace enough.json' 'is "False None" "$(json enough.json "\"%s %s\" % (d[\"partial\"], d[\"recorded_ns\"])")"'
check "the logs and their statistics stay" [ -s reached.trace/rank-000001.log ]
check "the last line says partial" has <(grep '^stagger: ' reached.err | tail -n 1) partial
