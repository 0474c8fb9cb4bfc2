#!/bin/bash
# Ranks of one machine that are isolated from each other: in separate process namespaces, where a
# number means a different process in each, in user namespaces, and behind a /proc that hides
# processes. Results are right, one line names what is not shared, and no rank reads a process that
# is not a rank.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

# UCX's file-based shared memory fails to start in some of these, and over TCP its MPI_Finalize may
# hang (docs/decisions/08). System V memory works wherever ranks share its namespace.
export UCX_TLS=sysv,self
no_rdma='^stagger: rank 0: no RDMA \(.+\): MPICH runs collectives between machines or containers$'
no_memory='^stagger: rank [12]: no shared memory with rank 0 of its machine \(.+\): MPICH runs the collectives$'

# apart NAME PROGRAM ARG...: three ranks, each started through "${each[@]}"
apart() {
    local name=$1
    shift
    rm -rf "$name.trace" "$name.yama"
    mkdir "$name.yama"
    chmod 777 "$name.yama"
    PRELOAD=$PROGRAMS/libyama.so:$LIB YAMA_DIR=$WORK/$name.yama YAMA_SCOPE=real \
        observe "$name" 3 "${each[@]}" "$@"
    touch "$name.yama/reads"
}
one_line() { # NAME REGEX: and the two of start and end
    all "is 0 $status" "has_lines $1.err '$2' 1" "has_lines $1.err '^stagger: ' 3" \
        "archive_agrees $1.trace $1.out" || { cat "$1.err"; return 1; }
}
permitted() { timeout 60 "${each[@]}" true 2>/dev/null; }

each=(unshare --fork --pid)
about="ranks in process namespaces of their own, all with number 1,"
if permitted; then
    apart own "$PROGRAMS/large" 4096 20
    check "$about count as several machines" one_line own "$no_rdma"
    check "... they read nobody's memory" empty own.yama/reads
    # Addresses are equal, so a rank's own memory lies at the address of the other's.
    each=(setarch --addr-no-randomize unshare --fork --pid)
    apart alike "$PROGRAMS/large" 4096 20
    check "... they count as several machines with equal addresses, too" all "one_line alike '$no_rdma'" 'empty alike.yama/reads'
    each=(unshare --fork --pid --mount-proc)
    if permitted; then
        apart mounted "$PROGRAMS/large" 4096 20
        check "... they count as several machines with a /proc of their own" all "one_line mounted '$no_rdma'" \
            'empty mounted.yama/reads'
    else
        skip "... they count as several machines with a /proc of their own" "mounting is not permitted here"
    fi
    each=(unshare --fork --pid --mount --uts sh -c
        'mount -t proc -o hidepid=2 proc /proc && "$@"; exit $?' container)
    if permitted; then
        apart container "$PROGRAMS/large" 4096 20
        check "... they count as several machines in containers with a hiding /proc" all "one_line container '$no_rdma'" \
            'empty container.yama/reads'
    else
        skip "... they count as several machines in containers" "mounting is not permitted here"
    fi
else
    skip "$about" "process namespaces are not permitted here"
fi

each=(unshare --user --map-root-user)
if permitted; then
    apart users "$PROGRAMS/large" 4096 20
    check "ranks in user namespaces of their own share nothing, and one line says why" all \
        "one_line users '$no_memory'" 'empty users.yama/reads'
else
    skip "ranks in user namespaces share nothing" "they are not permitted here"
fi

each=(unshare --mount sh -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' hidden)
if permitted; then
    STAGGER_RULES='*=handoff' apart hidden "$PROGRAMS/large" 4096 20
    calls_of hidden
    check "ranks of one user share memory behind a /proc that hides other users' processes" all \
        'gave hidden' 'ran_by hidden handoff main'
else
    skip "ranks behind a /proc that hides other users' processes share memory" "mounting is not permitted here"
fi

# ---- two containers with two ranks each ------------------------------------------------------------
about="ranks of one container"
if timeout 60 unshare --fork --pid --mount-proc true 2>/dev/null && command -v nsenter >/dev/null; then
    keepers=()
    for _ in 0 1; do
        unshare --fork --pid --mount-proc --kill-child sleep 600 &
        keepers+=($!)
        at_exit+=("kill -KILL $! 2>/dev/null") # it ignores others
        disown # without a word about its end
    done
    enter() { # NUMBER: its first process
        local keeper=${keepers[$1]} child=
        for _ in {1..600}; do
            child=$(cat "/proc/$keeper/task/$keeper/children") || break
            [ -n "$child" ] && grep -q '^sleep' "/proc/${child% }/cmdline" && break
            sleep 0.1
        done
        echo "nsenter --pid --mount --target ${child% }"
    }
    one=$(enter 0) other=$(enter 1)
    # shellcheck disable=SC2086 # several words
    STAGGER_RULES='*=handoff' STAGGER_DIR=$WORK/pairs.trace timeout --kill-after=5 \
        "$PROGRAM_SECONDS" "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" \
        -n 2 $one "$PROGRAMS/virtual_nodes" : -n 2 $other "$PROGRAMS/virtual_nodes" \
        >pairs.out 2>pairs.err </dev/null
    status=$?
    calls_of pairs
    check "$about share memory, ranks of two do not" all "one_line pairs '$no_rdma'" \
        'ran_by pairs handoff within' 'ran_by pairs mpich across'
else
    skip "$about" "namespaces are not permitted here"
fi
