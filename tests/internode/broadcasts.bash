# Shared by broadcasts.sh and broadcasts_full.sh, sourced after internode.bash.
# shellcheck shell=bash

program=$PROGRAMS/broadcasts

# broadcasts_give ALGORITHM MODE RANKS RANKS-PER-NODE: every byte is right, and the algorithm ran the calls.
broadcasts_give() {
    run_across results "$2" "$4" "bcast=$1;*=adaptive" "$3" "$program" results
    check "$1 gives every byte of a broadcast ($3 ranks, $4 a node, $2)" all 'gave results' \
        "is ${1%%(*} \"\$(algorithms results broadcast_form)\"" 'is mpich "$(algorithms results broadcast_nothing)"'
}

# The same for MPI_Ibcast: several outstanding, with types freed immediately. Mode poll cannot
# progress them.
later_give() { # ALGORITHM MODE RANKS RANKS-PER-NODE
    local ran=${1%%(*}
    [ "$2" = poll ] && ran=
    run_across later "$2" "$4" "bcast=$1;*=adaptive" "$3" "$program" later
    check "$1 gives every byte of consecutive broadcasts ($3 ranks, $4 a node, $2)" all 'gave later' \
        "is '$ran' \"\$(algorithms later '' ibcast)\""
}
