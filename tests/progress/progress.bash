# Shared by the scripts of tests/progress, sourced after sh.sh.
# shellcheck shell=bash

# run_late NAME MODE PROGRAM ARG...: four ranks, one a node, reduces by bypass.
run_late() {
    local name=$1 mode=$2
    shift 2
    rm -rf "$name.trace" words words.*
    STAGGER_PROGRESS=$mode STAGGER_RANKS_PER_NODE=1 \
        STAGGER_RULES="${RULES:-reduce=bypass;*=adaptive}" observe "$name" 4 "$@"
}

# finished NAME [LINES]: the program ran to its end; the library said that many lines (2: none but
# those at the start and the end).
finished() {
    is 0 "$status" && has "$1.out" '^finished$' &&
        has_lines "$1.err" '^stagger: ' "${2:-2}" && return
    cat "$1.err"
    return 1
}
