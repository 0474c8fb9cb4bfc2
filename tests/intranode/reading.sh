#!/bin/bash
# Permission to read other ranks' memory: under Yama ranks allow only the descendants of their
# launcher, and only from the first call that needs it to MPI_Finalize.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

# guarded NAME SCOPE PROGRAM ARG...: a run with 3 ranks under a module like Yama (tests/mpi/yama.c)
guarded() {
    local name=$1 scope=$2
    shift 2
    rm -rf "$name.yama" "$name.trace"
    mkdir "$name.yama"
    PRELOAD=$PROGRAMS/libyama.so:$LIB YAMA_DIR=$WORK/$name.yama YAMA_SCOPE=$scope \
        observe "$name" 3 "$@"
    touch "$name.yama/calls"
}

# UCX also reads other ranks' memory, and finds out on its own whether it may. Here that is
# disabled, as is TCP, which UCX would use instead: its MPI_Finalize sometimes hangs there.
export UCX_MODULES='^cma' UCX_TLS=posix,self

# namings NAME: the processes that each rank named, in order, one line per rank; L is the launcher's
# process
namings() {
    local launcher process
    while read -r _ process _ launcher; do
        awk -v process="$process" -v launcher="$launcher" '
            $1 == process { line = line (line == "" ? "" : " ") ($2 == launcher ? "L" : $2) }
            END { print line }' "$1.yama/calls"
    done < <(grep '^process ' "$1.out")
}
named() { is "$(printf '%s\n' "$2" "$2" "$2")" "$(namings "$1")"; }

guarded large 1 "$PROGRAMS/large" 1000000 3
check "large operands go through buffers: ranks name their launcher for the probe only" all 'gave large' 'named large "L 0"'
export STAGGER_RULES='allreduce=srm(form=single)'
guarded large 1 "$PROGRAMS/large" 1000000 3
check "with a rule that reads operands, ranks name their launcher for the probe and from the first call to the end" \
    all 'gave large' 'named large "L 0 L 0"' 'archive_agrees large.trace large.out'
unset STAGGER_RULES
guarded broadcasts 1 "$PROGRAMS/broadcasts" results
check "for large broadcasts ranks name their launcher likewise, without a large allreduce" all 'gave broadcasts' \
    'is 12 "$(wc -l <broadcasts.yama/calls)"'
STAGGER_SINGLE_COPY=off guarded off 1 "$PROGRAMS/large" 1000000 3
check "with STAGGER_SINGLE_COPY=off ranks never name their launcher" all 'gave off' 'named off ""'
STAGGER_RULES='*=mpich' guarded rules 1 "$PROGRAMS/large" 1000000 3
check "ranks never name it when MPICH runs all calls" all 'gave rules' 'named rules ""'
for rules in '*=handoff;bcast=mpich' '*=srm(form=chunks)' 'bcast[30k-]=mpich'; do
    STAGGER_RULES=$rules guarded rules 1 "$PROGRAMS/large" 1000000 3
    check "ranks never name it when no rule can read ($rules)" all 'gave rules' 'named rules ""'
done
STAGGER_RULES='*=srm(form=single)' guarded form 1 "$PROGRAMS/large" 20000 3
check "ranks name it when a rule asks for it" all 'gave form' 'named form "L 0 L 0"'
export STAGGER_RULES='allreduce=srm(form=single)'
guarded never 3 "$PROGRAMS/large" 1000000 3
check "when reads fail, ranks take their launcher back and copy" all 'gave never' \
    'named never "L 0"' 'archive_agrees never.trace never.out'
guarded open open "$PROGRAMS/large" 1000000 3
check "a process that MPICH has opened to readers stays open" all 'gave open' 'named open ""'
# UCX's module is loaded and would have named everybody. Naming gains nothing then, and taking it
# back would break UCX's reads, and with them the program.
UCX_MODULES='*' guarded ucx 3 "$PROGRAMS/large" 1000000 3
check "when UCX has opened the processes, ranks name nothing" all 'gave ucx' 'named ucx ""'

# Ranks with different parents name their nearest common ancestor, which belongs to the launcher.
mkdir -p wrapped.yama
PRELOAD=$PROGRAMS/libyama.so:$LIB
YAMA_DIR=$WORK/wrapped.yama YAMA_SCOPE=1 STAGGER_DIR=$WORK/wrapped.trace timeout --kill-after=5 "$PROGRAM_SECONDS" \
    "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" -n 1 "$PROGRAMS/large" 1000000 2 : \
    -n 2 sh -c "$PROGRAMS/large 1000000 2; exit \$?" >wrapped.out 2>wrapped.err </dev/null
status=$?
check "ranks behind shells name their common ancestor" all 'gave wrapped' \
    'is 3 "$(cut -d" " -f1 wrapped.yama/calls | sort -u | wc -l)"' \
    'is "0 $(sort -n wrapped.out | awk "/^process/ { print \$4 }" | sort -n | head -n 1)" \
        "$(awk "{ print \$2 }" wrapped.yama/calls | sort -nu | paste -sd " ")"'
