#!/bin/bash
# stagger watch reports a rank's activity while the others wait for it, before its interval has
# ended.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/watch/job.bash"
shopt -s extglob

# The rank's work would take longer than that; it is killed once it has been seen.
# long NAME N FUNCTION STEP...: ranks take the steps while rank 0 waits in the function
long() {
    STAGGER_DIR=$WORK/$1.trace timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" -n "$2" \
        "$PROGRAMS/mixed_causes" 1 - "${@:4}" </dev/null >"$1.out" 2>"$1.err" &
    job=$!
    until_so ranks_in "$1.trace" 0 "$3"
}
# tells NAME PATTERN: the reported activity of rank 1, in two looks
tells() {
    "$STAGGER" watch --json --count 2 --interval 0.5 "$1.trace" 2>/dev/null | tail -n 1 >told.json
    [[ $(json told.json '(lambda r: r[0]["outside"] is None and r[1]["outside"] is not None and r[1]["outside"]["cause"])(d["per_rank"])') = $2 ]]
}
# awaits NAME FUNCTION RANK: exactly the rows of the function report that they wait for the rank now
awaits() {
    "$STAGGER" watch --json --count 2 --interval 0.5 "$1.trace" 2>/dev/null | tail -n 1 >told.json
    [ "$(json told.json 'sorted({(r["mpi_function"], r["why_now"]["rank"]) for r in d["calls"] if r["why_now"] is not None})')" = "[('$2', $3)]" ]
}
# Its launcher kills the ranks, which have sessions of their own.
leave() {
    kill -TERM "$job" 2>/dev/null
    wait "$job" 2>/dev/null || true
}

long sleep 2 MPI_Barrier 1:sleep:1000000000
check "a sleeping rank is shown as asleep" until_so tells sleep asleep
check "the parts of its time add up to its time" is True "$(json told.json '(lambda o: o["cpu_ns"] + o["runnable_ns"] + o["off_ns"] == o["time_ns"] <= o["out_ns"])(d["per_rank"][1]["outside"])')"
check "the row of the waiting rank's call shows the same figures" all 'until_so awaits sleep MPI_Barrier 1' \
    'is True "$(json told.json "[r[\"why_now\"] for r in d[\"calls\"] if r[\"why_now\"] is not None] == [{**d[\"per_rank\"][1][\"outside\"], \"rank\": 1}]")"'
"$STAGGER" watch --count 2 --interval 0.2 sleep.trace >sleep.lines 2>&1
check "a line shows it" has sleep.lines '^out of MPI +rank 1 for [0-9.]+ ?m?s or more: (asleep|not told apart)$'
check "... the column shows it" has sleep.lines '^  MPI_Barrier .* (asleep|not told apart) on 1 now$'
leave
# Both sleep; a receive waits only for its sender.
long from 3 MPI_Recv 1:sleep:1000000000 2:sleep:1000000000 '2>0'
check "a receive waits for its sender" until_so awaits from MPI_Recv 2
leave
long work 2 MPI_Barrier 1:work:1000000000
# On a busy machine the holder of the processor is unknown, possibly for most of the time.
computes() {
    until_so tells work '@(computing|preempted|not told apart)' && is True "$(json told.json \
        '(lambda o: o["cpu_ns"] > 0 and 2 * o["off_ns"] <= o["time_ns"])(d["per_rank"][1]["outside"])')"
}
check "a computing rank is shown as computing, or as without a processor, and does not sleep" \
    one_of_five computes
leave
