#!/bin/bash
# In a process with another MPI the library prints one line, and the program runs as without it. The
# program is ScaLAPACK's xdlu, which Debian also builds with Open MPI.
. "$(dirname "$0")/../lib/sh.sh"

program=
for path in /usr/lib/*/scalapack/openmpi-tests/xdlu; do
    [ -x "$path" ] && program=$path
done
if [ -z "$program" ] || ! command -v mpiexec.openmpi >/dev/null; then
    skip "another MPI is refused" "no Open MPI program and launcher here"
    exit
fi
cp /usr/share/scalapack/*.dat .
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

foreign() { timeout "$PROGRAM_SECONDS" mpiexec.openmpi --oversubscribe -n 2 "$@" </dev/null; }

results() { grep -E 'tests completed|tests skipped' "$1"; }

foreign "$program" >plain.out 2>plain.err
plain_status=$?
STAGGER_DIR=$WORK/foreign.trace foreign env LD_PRELOAD="$PRELOAD" "$program" >with.out 2>with.err
status=$?
check "a program of another MPI exits as without the library" is "$plain_status" "$status"
check "its results are the same" same <(results plain.out) <(results with.out)
check "its results are there" has with.out '60 tests completed and passed'
check "one line says that this MPI is not MPICH" \
    all 'has_lines with.err "^stagger: " 1' 'has with.err "^stagger: .*MPICH"'
check "a program of another MPI leaves no directory" absent foreign.trace

# An MPICH program under the other MPI's launcher: each process is a job of its own.
STAGGER_DIR=$WORK/other.trace STAGGER_TRACE=off foreign env LD_PRELOAD="$PRELOAD" \
    "$PROGRAMS/lifetimes" 6 3 >other.out 2>other.err
check "one line says that another MPI's launcher has started jobs of one rank" \
    has_lines other.err "^stagger: Open MPI's launcher started 2 jobs of 1 rank" 1
timeout "$PROGRAM_SECONDS" "$STAGGER" run -o apart timeout "$PROGRAM_SECONDS" mpiexec.openmpi --oversubscribe -n 2 "$PROGRAMS/calls" 5 \
    >apart.out 2>apart.err </dev/null
check "the last line of stagger run names the launcher, and no figures of one of the jobs follow" \
    is "stagger: 2 jobs instead of one: mpiexec.openmpi is Open MPI's launcher, the program uses MPICH: use mpiexec.mpich" \
    "$(tail -n 1 apart.err)"

# The other way round.
timeout "$PROGRAM_SECONDS" "$MPIEXEC" -n 2 env LD_PRELOAD="$PRELOAD" "$program" >split.out 2>split.err </dev/null
check "one line says that MPICH's launcher has started jobs of one rank, and names the other MPI's" \
    has_lines split.err "^stagger: this program's MPI is not MPICH but 'Open MPI .*: use Open MPI's, mpirun.openmpi\); stagger is inactive$" 1
