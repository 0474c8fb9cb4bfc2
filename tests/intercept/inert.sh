#!/bin/bash
# The library does nothing outside MPI programs: other commands, the launcher, child processes.
. "$(dirname "$0")/../lib/sh.sh"

ls / >ls.out
check "ls under the library prints the same as without it" \
    all 'LD_PRELOAD=$PRELOAD ls / >with.out 2>with.err' 'same ls.out with.out' 'empty with.err'
check "a shell with pipes and children prints nothing more under the library" \
    all 'LD_PRELOAD=$PRELOAD sh -c "echo a | cat; (exit 0); ls / >/dev/null" >with.out 2>with.err' \
    'is a "$(cat with.out)"' 'empty with.err'
check "python prints nothing more under the library" \
    all 'LD_PRELOAD=$PRELOAD $PYTHON -c "print(7)" >with.out 2>with.err' 'is 7 "$(cat with.out)"' \
    'empty with.err'
check "the launcher prints nothing more under the library" \
    all 'LD_PRELOAD=$PRELOAD timeout "$PROGRAM_SECONDS" $MPIEXEC -n 2 true >with.out 2>with.err </dev/null' \
    'empty with.out' 'empty with.err'
check "the launcher's other commands run unchanged, too" \
    all 'LD_PRELOAD=$PRELOAD timeout "$PROGRAM_SECONDS" $MPIEXEC --version >with.out 2>with.err </dev/null' \
    'empty with.err'
check "a command that is not an MPI program ignores an unknown variable" \
    all 'STAGGER_NONSENSE=1 LD_PRELOAD=$PRELOAD ls / >with.out 2>with.err' 'empty with.err'
check "none of them leaves a directory" is "" "$(find . -name 'stagger-*')"

observe fork 2 "$PROGRAMS/fork"
check "a program with children that exit, exec and call system() runs under the library" \
    ran_well fork
check "its calls are in the archive once, and children leave the log alone" \
    archive_agrees fork.trace fork.out
