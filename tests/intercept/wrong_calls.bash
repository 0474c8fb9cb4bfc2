# Compares wrong calls with and without the library, for scripts that source lib/sh.sh.
# shellcheck shell=bash

export WRONG_CALLS=$WORK # marks this script's ranks

# Normalises text that differs between runs: addresses, error codes, communicator numbers.
text_of() {
    sed -E 's/0x[0-9a-f]+/ADDRESS/g; s/Abort\([0-9]+\)/Abort/; s/in comm [0-9]+/in comm/
        /^(=|YOUR|This typ|Please|stagger: |$)|UCX  WARN/d' "$1.out" "$1.err" | LC_ALL=C sort
}

# under NODE-RANKS NAME PROGRAM-ARG...: observes it; calls are counted between nodes only
under() {
    rm -rf "$2.trace"
    STAGGER_TRACE=$([ "$1" = 0 ] && echo off || echo stats) STAGGER_QUIET=1 STAGGER_RANKS_PER_NODE=$1 observe "$2" 2 "${@:3}"
}

# is_like_plain NODE-RANKS NAME PROGRAM-ARG...: the observed run printed the same as one without the
# library. A launcher that ends a job may lose text or the exit status (Hydra 4.2 sometimes does),
# so a match in any run suffices, and two more runs are observed.
is_like_plain() {
    local nodes=$1 name=$2 run
    shift 2
    for run in {1..30}; do
        [ "$plain_status" = "$status" ] &&
            cmp -s <(text_of "$name.plain") <(text_of "$name") && return
        compare "$name" 2 "$@"
        [ $((run % 10)) -ne 0 ] || under "$nodes" "$name" "$@"
        # Ranks that the launcher left; the shell's own environment lacks the variable.
        grep -lzx "WRONG_CALLS=$WORK" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3 | xargs -r kill -KILL 2>/dev/null
    done
    is "$plain_status" "$status"
    same <(text_of "$name.plain") <(text_of "$name")
}

# says_the_same HANDLER COMM CALL...: within a node and between nodes, the errors' texts, on either
# stream, the handler's calls and the exit status match those without the library.
says_the_same() {
    local program=("$PROGRAMS/wrong_calls" "$@") name=$1-$2-$3 nodes
    compare "$name" 2 "${program[@]}"
    for nodes in 0 1; do
        under "$nodes" "$name" "${program[@]}"
        check "${*:3}, handler $1, communicator $2: MPICH's own text and status \
($([ "$nodes" = 0 ] && echo in a node || echo between nodes))" \
            all 'is_like_plain "$nodes" "$name" "${program[@]}"' \
            'lacks "$name.err" "^stagger: "'
    done
}
# in_each_way COMM CALL...: with all handlers; a fatal error ends a run
in_each_way() {
    local call
    for call in "${@:2}"; do
        says_the_same fatal "$1" "$call"
    done
    says_the_same return "$@"
    says_the_same handle "$@"
}
