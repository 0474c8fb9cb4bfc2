# Sourced by the scripts of tests/watch: runs jobs that pause at the points to be looked at.
# shellcheck shell=bash

# begin NAME N CALL...: starts the program `stopped` in the background; its last rank stops itself
# before each call. The output directory is NAME.trace, the ranks' process numbers are in NAME.pids,
# the launcher's is in $job.
begin() {
    local name=$1 ranks=$2
    shift 2
    mkdir "$name.pids" || exit 1
    STAGGER_DIR=$WORK/$name.trace timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" \
        -genv LD_PRELOAD "$PRELOAD" -n "$ranks" ${around[@]+"${around[@]}"} "$PROGRAMS/stopped" "$name.pids" "$@" </dev/null >"$name.out" 2>"$name.err" &
    job=$!
}
around=() # what runs it

pid_of() { cat "$1.pids/$2"; }
state_of() { sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null; }

# Polls until the condition holds, because the time is unknown; returns 1 if it never does.
until_so() {
    local looks
    for ((looks = 0; looks < 3000; looks++)); do
        "$@" && return
        read -r -t 0.02 _ < <(:) # the processor is others' meanwhile
    done
    echo "never: $*"
    return 1
}

is_stopped() { [ "$(state_of "$(pid_of "$1" "$2" 2>/dev/null)")" = T ]; }

# look DIR: one line of figures, in look.json
look() { "$STAGGER" watch --json --count 1 "$1" >look.json 2>look.err; }
# ranks_in DIR LAST FUNCTION: ranks 0 to LAST are in the function
ranks_in() {
    look "$1" && [ "$(json look.json "all(d['per_rank'][r]['in'] is not None and
        d['per_rank'][r]['in']['mpi_function'] == '$3' for r in range($2 + 1))")" = True ]
}

# stand_at NAME N FUNCTION: the last rank has stopped; all others are in the function, and are
# stopped, too
stand_at() {
    local rank
    until_so is_stopped "$1" $(($2 - 1)) && until_so ranks_in "$1.trace" $(($2 - 2)) "$3" || return
    for ((rank = 0; rank < $2 - 1; rank++)); do
        kill -STOP "$(pid_of "$1" "$rank")" && until_so is_stopped "$1" "$rank" || return
    done
}

# go_on NAME N
go_on() {
    local rank
    for ((rank = 0; rank < $2; rank++)); do
        kill -CONT "$(pid_of "$1" "$rank")" || return
    done
}

# go_to_end NAME N: resumes the last rank whenever it stops; $status is the launcher's
go_to_end() {
    while kill -0 "$job" 2>/dev/null; do
        is_stopped "$1" $(($2 - 1)) && kill -CONT "$(pid_of "$1" $(($2 - 1)))" 2>/dev/null
        read -r -t 0.02 _ < <(:)
    done
    wait "$job"
    status=$?
}
