# Shared by the scripts of tests/progress, sourced after sh.sh.
# shellcheck shell=bash

# run_late NAME MODE PROGRAM ARG...: four ranks, one per node, reduces by bypass. Runs it again, up to
# $RUNS times, if the machine was so busy that a thread took over from a signal.
RUNS=10
run_late() {
    local name=$1 mode=$2 run
    shift 2
    for ((run = 0; run < RUNS; run++)); do
        rm -rf "$name.trace" "$name.json" words words.*
        STAGGER_PROGRESS=$mode STAGGER_RANKS_PER_NODE=1 \
            STAGGER_RULES="${RULES:-reduce=bypass;*=adaptive}" observe "$name" 4 "$@"
        grep -qE "$BUSY" "$name.err" || return 0
    done
}

# finished NAME [LINES]: the program ran to its end, and the library printed that many lines (2:
# those at the start and the end).
finished() {
    is 0 "$status" && has "$1.out" '^finished$' &&
        has_lines "$1.err" '^stagger: ' "${2:-2}" && return
    cat "$1.err"
    return 1
}

# of_report NAME EXPRESSION: of its report's JSON as d
of_report() {
    [ -e "$1.json" ] || report_json "$1.trace" "$1.json" || return
    json "$1.json" "$2"
}
# total NAME COLUMN: the sum over the report's sites
total() { of_report "$1" "sum(s['$2'] for s in d['sites'])"; }

# late_regions NAME: counts the archive's late regions by kind
late_regions() { "$PYTHON" "$ROOT/tests/progress/late_regions.py" "$1.trace/traces.otf2"; }

# late_records NAME: the number of late contributions in its archive, or else in its logs: the
# 64-byte slots after a header of 4096 bytes whose first byte is 3 (trace/record.h)
late_records() {
    if [ -e "$1.trace/traces.otf2" ]; then
        late_regions "$1" | awk '{ count += $1 } END { print count + 0 }'
    else
        "$PYTHON" -c '
import sys
logs = [open(name, "rb").read()[4096:] for name in sys.argv[1:]]
print(sum(log[at] == 3 for log in logs for at in range(0, len(log), 64)))' "$1".trace/rank-*.log
    fi
}
