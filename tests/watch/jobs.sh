#!/bin/bash
# long
# stagger watch on jobs that begin, run and end, with ranks that die and damaged logs; in a pipe and
# on a terminal.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/watch/job.bash"

# ---- no job ------------------------------------------------------------------------------------------

# refuses LINE WORD...: prints that line only, with exit status 1
refuses() {
    local line=$1
    shift
    "$STAGGER" watch "$@" >out 2>err
    is 1 $? && empty out && has_lines err . 1 && has err "$line"
}
mkdir empty foreign broken
touch foreign/notes foreign/rank-1.log foreign/rank-000000.logs
head -c 100 /dev/zero >broken/rank-000000.log
check "without a job one line says so" all \
    'refuses "^stagger: no running job found in this directory"' \
    'refuses "^stagger: nowhere: No such file" nowhere' \
    'refuses "^stagger: empty: contains no logs of a running job" empty' \
    'refuses "^stagger: foreign: contains no logs of a running job" foreign' \
    'refuses "^stagger: foreign/notes: Not a directory" foreign/notes' \
    'refuses "^stagger: broken/rank-000000.log: is cut off in its header" broken'
bad_usage() {
    "$STAGGER" watch "$@" >out 2>err
    is 2 $? && empty out && has_lines err . 1 && has err "^stagger: watch: "
}
check "bad usage is reported in one line with exit status 2" all 'bad_usage a b' 'bad_usage --interval 0' \
    'bad_usage --interval 1s' 'bad_usage --interval nan' 'bad_usage --count 0' 'bad_usage --count x' 'bad_usage --top 0' 'bad_usage --what'

# ---- attach and detach, without a directory name -------------------------------------------------------

begin late 4 barrier allreduce barrier
until_so is_stopped late 3
"$STAGGER" watch --interval 0.1 late.trace >follow.lines 2>follow.watch &
watch=$!
check "without DIR watch finds the running job" all '"$STAGGER" watch --count 1 >late.lines 2>&1' \
    'has late.lines "^stopped, 4 ranks, running .*, late.trace$"'
check "... watch finds it from the directory itself, too" all '(cd late.trace && "$STAGGER" watch --count 1) >late.lines 2>&1' \
    'has late.lines "^stopped, 4 ranks, running"'
check "--top cuts the table, and --json prints one object a line" all \
    'is 1 "$("$STAGGER" watch --count 1 --top 1 late.trace | grep -c "^  MPI_")"' \
    '"$STAGGER" watch --json --count 3 --interval 0.1 --top 1 late.trace >late.json' 'is 3 "$(wc -l <late.json)"' \
    'is "1 True True" "$(tail -n 1 late.json >last.json && json last.json "\"%d %s %s\" % (len(d[\"calls\"]), d[\"call_count\"] > 1, d[\"interval_ns\"] > 0)")"' \
    'is None "$(head -n 1 late.json >first.json && json first.json "d[\"interval_ns\"]")"'
check "closing the reader ends the command" all '"$STAGGER" watch --interval 0.1 late.trace | head -n 1 >head.lines' \
    'has head.lines "^stopped, 4 ranks"'

# ---- on a terminal -------------------------------------------------------------------------------------

escape=$(printf '\033')
# on_terminal KEY TEXT COMMAND...
on_terminal() { TERM=xterm "$PYTHON" "$ROOT/tests/watch/terminal.py" "$1" "$2" shown "${@:3}"; }
# Prints the drawn pictures without escape codes.
pictures() {
    tr -d '\r' <shown | sed "s/$escape\[H/\n/g; s/$escape\[?1049l/\n&/" | sed "/$escape\[?1049l/,\$d; s/$escape\[[?0-9;]*[a-zA-Z]//g"
}
check "on a terminal watch draws in place and fits the screen, and q quits" all \
    'on_terminal q "in MPI" "$STAGGER" watch --interval 0.1 late.trace' 'has shown "$escape\[\?1049h"' 'has shown "$escape\[\?1049l"' \
    'has shown "$escape\[1m"' 'has <(pictures) "^in MPI"' 'is "" "$(pictures | grep -E "^.{61}")"'
check "Ctrl-C quits, too, and the last figures stay" all \
    'on_terminal "$(printf "\003")" "in MPI" "$STAGGER" watch --interval 0.1 late.trace' \
    'has <(sed "s/.*$escape\[?1049l//" shown | tr -d "\r") "stopped, 4 ranks"'
check "NO_COLOR turns the colours off" all \
    'NO_COLOR=1 on_terminal q "in MPI" "$STAGGER" watch --interval 0.1 late.trace' 'lacks shown "$escape\[1m"' 'has shown "$escape\[H"'
check "a terminal without cursor control gets plain lines" all \
    'on_terminal "" "in MPI" env TERM=dumb "$STAGGER" watch --count 2 --interval 0.1 late.trace' 'lacks shown "$escape"'
until_so has follow.lines '^in MPI  *[0-9.]*% now, ' >/dev/null
go_to_end late 4
wait "$watch"
watch_status=$?
check "watch follows a job to its end, and ends with it" all 'is 0 "$watch_status"' 'empty follow.watch' \
    'has follow.lines "^stopped, 4 ranks, running .*, late.trace$"' 'has follow.lines "^in MPI  *[0-9.]*% now, [0-9.]*% of the run$"' \
    'has follow.lines "^least in MPI  *rank [0-3] [0-9.]*%, rank [0-3] [0-9.]*%"' \
    'has follow.lines "^  MPI_Barrier  .*stopped.c:[0-9]+ .*%  +(-|[a-z ]+ on [0-3]( now)?)$"' \
    'is "1 stopped, 4 ranks, ended" "$(grep -c "ended after" follow.lines) $(grep "^stopped," follow.lines | tail -n 1 | sed "s/ after.*//")"'
check "lines in a pipe have no escape codes" lacks follow.lines "$escape"
check "for a job that has ended, watch points to the report" \
    refuses '^stagger: late.trace: the run has ended: stagger report late.trace$' late.trace
check "the job ends undisturbed by watch" all 'is 0 "$status"' 'is "barrier allreduce barrier" "$(tr "\n" " " <late.out | sed "s/ $//")"' \
    'archive_sound late.trace'

# ---- ranks that die ------------------------------------------------------------------------------------

# The launcher kills all ranks when one ends, but notices a death only after the last rank has
# ended.
around=(sh -c '"$@"; until [ -e over ]; do sleep 0.1; done' sh)
begin dying 4 barrier allreduce
stand_at dying 4 MPI_Barrier
"$STAGGER" watch --interval 0.1 dying.trace >dying.lines 2>dying.watch &
watch=$!
until_so has dying.lines '^stopped, 4 ranks, running' >/dev/null
kill -KILL "$(pid_of dying 1)"
until_so has dying.lines '^rank 1 ended without MPI_Finalize$' >/dev/null
check "a killed rank is reported, and the others are still shown" all \
    'has dying.lines "^stopped, 4 ranks, running .*, 3 of them running, dying.trace$"' \
    'look dying.trace' 'is "runs died runs runs" "$(json look.json "\" \".join(r[\"state\"] for r in d[\"per_rank\"])")"'
for rank in 0 2 3; do kill -KILL "$(pid_of dying "$rank")"; done
wait "$watch"
watch_status=$?
touch over
wait "$job"
check "when the last rank ends, watch ends with the last figures" all 'is 0 "$watch_status"' 'empty dying.watch' \
    'has dying.lines "^rank 3 ended without MPI_Finalize$"' 'has dying.lines "^stopped, 4 ranks, ended after"' \
    'has dying.lines "^  MPI_Barrier  main stopped.c"'

# ---- damaged logs --------------------------------------------------------------------------------------

mkdir copy
cp dying.trace/rank-*.log copy
mv copy/rank-000003.log copy/kept
coproc pretend { exec "$PYTHON" "$ROOT/tests/watch/pretend.py" copy; }
pretend_pid=$pretend_PID
read -r answer <&"${pretend[0]}"
order() { echo "$*" >&"${pretend[1]}" && read -r answer <&"${pretend[0]}"; }
"$STAGGER" watch --interval 0.1 copy >copy.lines 2>copy.watch &
watch=$!
shows() { until_so has copy.lines "$1" >/dev/null; }
check "a missing log is reported" shows '^note: the logs of 1 of 4 ranks are missing$'
mv copy/kept copy/rank-000003.log
check "... the log is read when it appears" shows '^rank 3 ended without MPI_Finalize$'
order cut rank-000000.log 4096
check "a log that is cut off is reported" shows '^rank-000000.log: was cut off; its figures end there$'
order spoil rank-000001.log
check "an overwritten log is reported" shows '^rank-000001.log: is not a stagger log; its figures end there$'
order remove rank-000002.log
check "a removed log is reported" shows '^rank 2: its log was removed$'
wait "$watch"
watch_status=$?
check "watch goes on until no rank is left, and ends well" all 'is 0 "$watch_status"' 'empty copy.watch' \
    'is 1 "$(grep -c "ended after" copy.lines)"' 'has copy.lines "^  MPI_Barrier"'
eval "exec ${pretend[1]}>&-"
wait "$pretend_pid"
