#!/bin/bash
# timeout: 3600
# 64 ranks with 500 communicators of all ranks in a memory control group: the library's memory
# beyond MPICH's stays within STAGGER_MEMORY, and the program survives under a limit that allows no
# more. Prints the figures.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lib/groups.bash"
RANKS=64 COMMUNICATORS=500 MEMORY_MIB=64
PROGRAM_SECONDS=800
about="64 ranks with 500 communicators in a memory control group"

if make_group 2 memory memory.max; then
    usage=$group/memory.current limit=$group/memory.max
elif make_group 1 memory memory.limit_in_bytes; then
    usage=$group/memory.usage_in_bytes limit=$group/memory.limit_in_bytes
else
    skip "$about" "no memory control group can be made here"
    exit 0
fi

# grouped NAME LIBRARY [nonblocking]: a run in the group; $1.out has the mapped bytes and the
# group's usage
grouped() {
    (
        echo "$BASHPID" >"$group/cgroup.procs" || exit 1
        PRELOAD=$2 STAGGER_TRACE=off observe "$1" "$RANKS" "$PROGRAMS/memory" "$COMMUNICATORS" \
            "$usage" "${3:-}"
        echo "$status" >"$1.status"
    )
    status=$(cat "$1.status")
}
mib() { awk -v when="$2" -v column="$3" '$1 == when { print int($column / 1048576) }' "$1.out"; }
added() { echo $(($(mib "$1" made 3) - $(mib "$1" start 3))); }
show() {
    echo "# $1: MiB in the group $(mib "$1" start 3) after MPI_Init," \
        "$(mib "$1" made 3) with $COMMUNICATORS communicators; shared $(mib "$1" made 2)"
}

grouped plain '' nonblocking
show plain
check "stock MPICH runs in the group" is 0 "$status"
STAGGER_RULES='*=mpich' grouped mpich "$LIB"
show mpich
check "when all rules say mpich, the library shares nothing" all 'is 0 "$status"' \
    'is 0 "$(mib mpich made 2)"'
STAGGER_MEMORY=16g grouped all "$LIB"
show all
check "with memory for all, every communicator has a segment" all 'is 0 "$status"' \
    '[ "$(mib all made 2)" -ge 1000 ]' 'empty all.err'
STAGGER_MEMORY=${MEMORY_MIB}m grouped limited "$LIB"
show limited
check "with STAGGER_MEMORY=${MEMORY_MIB}m at most that much is shared, with one line" all \
    'is 0 "$status"' 'within 1 $MEMORY_MIB "$(mib limited made 2)"' \
    'has_lines limited.err "^stagger: " 1' 'has limited.err "exceed STAGGER_MEMORY"'
# A fifth more than without the library, plus its allowed shared memory: less than all segments
# take.
most=$(($(mib mpich made 3) * 6 / 5 + MEMORY_MIB))
if [ "$most" -lt "$(mib all made 3)" ]; then
    echo "${most}M" >"$limit"
    STAGGER_MEMORY=${MEMORY_MIB}m grouped confined "$LIB"
    show confined
    check "a memory limit of $most MiB for the group does not end the program" is 0 "$status"
else
    skip "a memory limit for the group does not end the program" "MPICH itself takes too much of it here"
fi
