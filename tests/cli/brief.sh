#!/bin/bash
# stagger run prints the report's first screen at the end; the program's exit status is unchanged.
. "$(dirname "$0")/../lib/sh.sh"
ulimit -c 0

# run NAME ARGUMENT...: stagger run; output in NAME.out and NAME.err, exit status in $status
run() {
    local name=$1
    shift
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$STAGGER" run "$@" >"$name.out" 2>"$name.err" </dev/null
    status=$?
}
brief='^more: --calls '
mpi=("$MPIEXEC" -n 2)
# told NAME MADE ARGUMENT...: as run, into a new MADE, until stagger run prints a summary: it gives
# up one that takes a busy machine too long
told() { until_printed "$1.err" "$brief|with: stagger recover " made_anew "$@"; }
made_anew() {
    rm -rf "$2"
    run "$1" "${@:3}"
}

# ---- the message ---------------------------------------------------------------------------------------

told said said -o said "${mpi[@]}" "$PROGRAMS/calls" 50
check "the report's first screen follows the library's last line" all 'is 0 "$status"' 'has_lines said.err "^stagger: " 2' \
    'sed "1,/see: stagger report/d" said.err | sed 1d >screen' 'same <("$STAGGER" report "$PWD/said") screen'
check "it fits 40 lines of 100 columns" all 'within 5 40 "$(wc -l <screen)"' 'lacks screen "^.{101}"'
check "the program's output is unchanged" all 'own_counts said.out >counts' 'has_lines counts "^.*$" 2' 'lacks said.out stagger'
check "a run of another user is reported by directory and user" all \
    'has_lines said/stagger.conf "^# launch [0-9a-f]+-[0-9a-f]+$" 1' 'is "# launch" "$(sed -n 2p said/stagger.conf | cut -d" " -f1,2)"'
told waits waits -o waits "${mpi[@]}" "$PROGRAMS/late_sender" 200
# A busy machine starts ranks apart: they may wait longer for MPI_Init.
check "a program that waits for a message has this first" \
    has <(grep -A3 "^Where ranks wait" waits.err | grep -Ev "^  MPI_(Init|Finalize) " | sed -n 2p) "^  MPI_Recv +main late_sender.c:"
told kept said-2 -o said "${mpi[@]}" "$PROGRAMS/calls" 5
check "the screen is about the directory that the run made" has kept.err '^calls, 2 ranks .*said-2/traces.otf2$'
told several several -o several sh -c "rm -rf several-2; $MPIEXEC -n 1 $PROGRAMS/calls 5; $MPIEXEC -n 2 $PROGRAMS/calls 5"
check "with several runs, the screen is about the last one and names it" all 'is 0 "$status"' \
    'has_lines several.err "^stagger: the last of 2 runs, $PWD/several-2:$" 1' 'has_lines several.err "$brief" 1'
told stats stats --trace stats -o stats "${mpi[@]}" "$PROGRAMS/calls" 50
check "statistics do not show waits, and one line says so" all 'has_lines stats.err "^It is not known who waits for whom: " 1' \
    'has stats.err "^Time in MPI by call site " 1'
told alone alone -o alone "$MPIEXEC" -n 1 "$PROGRAMS/calls" 5
check "one rank waits for no other" has_lines alone.err "^One rank: it waits for no other.$" 1
told killed killed -o killed "${mpi[@]}" "$PROGRAMS/ending" kill 50
check "after a run was killed, a line says how to keep its logs" all '[ "$status" -ne 0 ]' \
    'has_lines killed.err "^stagger: .*killed: the run ended without an archive; make it with: stagger recover " 1'

# More threads than processors, in teams of two, and a call site with a long name.
file=of_each_team.c
cat >$file <<'END'
#include <mpi.h>
__attribute__((noinline)) static void add_up_what_the_teams_of_threads_contribute_to_the_whole(double sum)
{
    double all;
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum += all;
}
int main(int argc, char **argv)
{
    double sum = 0;
    MPI_Init(&argc, &argv);
#pragma omp parallel for reduction(+ : sum) TEAM
    for (int i = 0; i < 1000; i++)
        sum += i;
    add_up_what_the_teams_of_threads_contribute_to_the_whole(sum);
    return MPI_Finalize();
}
END
"$("$ROOT/.ci/find-mpi" cc)" -g -fopenmp -DTEAM= $file -o teams || exit 1
"$("$ROOT/.ci/find-mpi" cc)" -g -fopenmp -DTEAM="num_threads($(($(nproc) + 1)))" $file -o large || exit 1
# teams PROGRAM POLICY NAME
teams() { OMP_WAIT_POLICY=$2 OMP_NUM_THREADS=2 run "$3" -o "$3.trace" "$MPIEXEC" -n "$(nproc)" "./$1" && "$STAGGER" report "$3.trace" >"$3.txt"; }
teams teams active active
teams teams passive passive
teams large active large
check "a line tells of OpenMP's threads that spin on too few processors, and none of threads that sleep" all \
    '[ "$(nproc)" -eq 1 ] || has active.txt "^  threads +$(nproc) ranks? x 2 OpenMP threads spin on $(nproc) processors?: set OMP_WAIT_POLICY=passive$"' \
    '[ -s passive.txt ]' 'lacks passive.txt "^  threads "'
check "... nor of a team that is larger than the processors, and so sleeps" all \
    '[ -s large.txt ]' 'lacks large.txt "^  threads "'
check "a long call site is shortened in its function's name, never in file and line" all \
    '"$STAGGER" report --site "add_up*" active.trace >site.txt' 'lacks site.txt "^.{101}"' \
    'has site.txt "^  MPI_Allreduce +add_up_.*[.][.].*whole $file:5 +[<0-9]"'

# ---- runs without a message ----------------------------------------------------------------------------

silent() { is 0 "$status" && lacks "$1.err" "$brief"; }
run quiet --quiet -o quiet "${mpi[@]}" "$PROGRAMS/calls" 5
check "--quiet leaves them out, with the library's own lines" all 'silent quiet' 'empty quiet.err' '[ -s quiet/traces.otf2 ]' 'lacks quiet/stagger.conf "^# launch"'
STAGGER_QUIET=1 run setting -o setting "${mpi[@]}" "$PROGRAMS/calls" 5
check "STAGGER_QUIET leaves them out, with the library's own lines" all 'silent setting' 'lacks setting.err "^stagger: "'
run off --trace off "${mpi[@]}" "$PROGRAMS/calls" 5
check "a run that records nothing gets no lines" silent off
run nothing true
check "a program without MPI is said to have recorded nothing" all 'silent nothing' 'has_lines nothing.err "^" 1' \
    'has nothing.err "^stagger: nothing was recorded: no process called MPI_Init"'
"${mpi[@]}" "$STAGGER" run -o ranks "$PROGRAMS/calls" 5 >ranks.out 2>ranks.err </dev/null
status=$?
check "ranks print no lines" all 'silent ranks' 'has_lines ranks.err "^stagger: " 2'
told nested nested -o nested "$STAGGER" run -o nested "${mpi[@]}" "$STAGGER" run -o nested "$PROGRAMS/calls" 5
check "with nested launching processes, only the outermost prints the lines" has_lines nested.err "$brief" 1
SLURM_STEPID=0 run step -o step "${mpi[@]}" "$PROGRAMS/calls" 5
check "under a step of Slurm, stagger run is not the launching process" silent step
STAGGER_LAUNCH='../x' LD_PRELOAD=$LIB STAGGER_DIR=forged "${mpi[@]}" "$PROGRAMS/calls" 5 >forged.out 2>forged.err </dev/null
check "a directory name with unusual characters is not printed, and the lines are left out" all \
    'lacks forged/stagger.conf launch' 'has_lines forged.err "^stagger: " 2'

# A run directory with an archive that no reader can read to its end.
until_printed endless.err regular made_anew endless endless sh -c 'mkdir endless && printf "# run x\n# launch %s\n" "$STAGGER_LAUNCH" >endless/stagger.conf && mkfifo endless/traces.otf2; exit 6'
check "an archive that is not a regular file is refused, and the exit status is unchanged" all 'is 6 "$status"' \
    'has_lines endless.err "traces.otf2: is not a regular file$" 1' 'has_lines endless.err "" 1'

# ---- the program's exit status --------------------------------------------------------------------------

run seven sh -c 'exit 7'
check "the exit status equals the program's" is 7 "$status"
for signal in SEGV TERM KILL USR1; do
    "$STAGGER" run sh -c "kill -$signal \$\$" 2>/dev/null
    check "a program that SIG$signal ends ends the launching process by the same signal" is "SIG$signal" "SIG$(kill -l $?)"
done
run handed sh -c 'sleep 600 & trap "echo handled; kill $!; exit 9" USR1; kill -USR1 $PPID; wait'
check "a signal reaches the program" all 'is 9 "$status"' 'is handled "$(cat handed.out)"'
(trap '' CHLD && "$STAGGER" run sh -c 'exit 5')
check "a caller that ignores SIGCHLD gets the exit status, too" is 5 $?
(trap '' USR2 && "$STAGGER" run sh -c 'kill -USR2 $$; exec grep -E "^Sig(Ign|Blk)" /proc/self/status') >signals
(trap '' USR2 && sh -c 'kill -USR2 $$; exec grep -E "^Sig(Ign|Blk)" /proc/self/status') >signals.plain
check "the program ignores and blocks the same signals as without the launching process" same signals.plain signals
# The kernel's timer signal outlives exec, as in: perl -e 'alarm 60; exec "stagger", "run", ...'
# A program that has no trap yet ends by the signal itself.
timed() { "$PYTHON" -c 'import os, signal, sys; signal.setitimer(signal.ITIMER_REAL, 1); os.execv(sys.argv[1], sys.argv[1:])' "$STAGGER" run "$@"; }
trapped() { timed sh -c 'trap "kill \$!; exit 9" ALRM; sleep 20 & wait; exit 0' >/dev/null 2>&1; is 9 $?; }
check "a timer that was set before still ends the program" one_of_five trapped
echo '#include <errno.h>
int fork(void) { errno = EAGAIN; return -1; }' >no_fork.c
"${CC:-gcc}" -shared -fPIC -o no_fork.so no_fork.c
(trap '' USR2 && LD_PRELOAD=$PWD/no_fork.so "$STAGGER" run sh -c 'kill -USR2 $$; exec grep -E "^Sig(Ign|Blk)" /proc/self/status') >signals 2>no_fork.err
check "when fork fails, the launching process becomes the program, with these signals" all 'same signals.plain signals' 'empty no_fork.err'
# The program waits for the end of a pipe that it holds open itself: only a signal ends it.
mkfifo life
"$STAGGER" run sh -c 'echo $$; exec sleep 600' >pid 3<>life &
launcher=$!
until [ -s pid ] || ! kill -0 "$launcher" 2>/dev/null; do read -rt 0.01 <>life; done
kill -KILL "$launcher"
wait "$launcher" 2>/dev/null
check "killing the launching process ends the program" gone "$(cat pid)"
run closed sh -c 'exit 0' 2>&-
check "without standard error the program runs" is 0 "$status"
