#!/bin/bash
# Files and links that others put in the output's place are not followed, not overwritten and not
# mistaken for stagger's own.
. "$(dirname "$0")/../lib/sh.sh"

rounds=200
compare reference 2 "$PROGRAMS/calls" "$rounds"

mode_of() { stat -c %a "$1"; }

# untouched NAME: results and exit status are those without the library.
untouched() {
    is 0 "$status" && lacks "$1.err" 'BAD TERM|assert' &&
        same <(own_counts reference.plain.out) <(own_counts "$1.out")
}

# kept: the target of a link is unchanged.
keep() { rm -rf elsewhere && mkdir elsewhere && echo mine >elsewhere/file; }
kept() { is mine "$(cat elsewhere/file)" && is file "$(ls elsewhere)"; }

# ---- ownership of the directory -----------------------------------------------------------------------

if [ "$(id -u)" = 0 ] && mkdir foreign.trace && chown 12345 foreign.trace 2>/dev/null; then
    observe foreign 2 "$PROGRAMS/calls" "$rounds"
    check "another user's empty directory stays untouched" all 'untouched foreign' \
        'is "" "$(ls foreign.trace)"'
    check "output goes to the next name, and one line says why" all \
        'archive_agrees foreign.trace-2 foreign.out' \
        'has_lines foreign.err "^stagger: .*foreign.trace belongs to another user; writing to" 1'

    mkdir ours && ln -s ours link.trace && chown -h 12345 link.trace
    observe link 2 "$PROGRAMS/calls" "$rounds"
    check "another user's link is not followed" all 'untouched link' 'is "" "$(ls ours)"' \
        'archive_agrees link.trace-2 link.out'
else
    skip "another user's empty directory stays untouched" "only root may give directories away"
    skip "another user's link is not followed" "only root may give links away"
fi

mkdir scratch && ln -s scratch own.trace
observe own 2 "$PROGRAMS/calls" "$rounds"
check "one's own link to an empty directory is followed" all 'untouched own' \
    'archive_agrees scratch own.out'

# ---- permissions -----------------------------------------------------------------------------------------

(umask 0 && STAGGER_TRACE_BYTES=1m observe open 2 "$PROGRAMS/calls" 7000)
check "with any umask, only the owner may write to a run's files" is "" \
    "$(find open.trace -perm /022)"
check "with a permissive umask, others may read them" is "" "$(find open.trace ! -perm -044)"
check "the logs have the same mode" [ -s open.trace/rank-000000.log ]
(umask 077 && STAGGER_TRACE_BYTES=1m observe closed 2 "$PROGRAMS/calls" 7000)
check "with a strict umask, others may not read them" is "" "$(find closed.trace -perm /077)"

# ---- contents at archive creation ----------------------------------------------------------------------------

# plant COMMAND: runs it in the directory of a running job; leaves job.trace, job.err, $status
plant() {
    keep
    rm -rf job.trace
    observe job 2 "$PROGRAMS/between" 50 "cd '$WORK/job.trace' && $1"
}
one_line() {
    is 0 "$status" && has_lines job.err '^stagger: .*cannot write the trace' 1 &&
        lacks job.err 'BAD TERM|assert'
}

for file in traces.def traces.otf2.part traces.marker; do
    plant "ln -s ../elsewhere/file $file"
    check "a link in place of $file is not followed" all kept 'is 0 "$status"' \
        'archive_agrees job.trace job.out'
done
plant "ln -s ../elsewhere/file traces.otf2"
check "a link in place of traces.otf2 counts as an archive" all kept one_line \
    'has job.err "traces.otf2 exists already"'
plant "ln -s ../elsewhere traces"
check "a link in place of traces/ is refused" all kept one_line
plant "mkdir traces && ln -s ../../elsewhere/file traces/0.evt"
check "a link in traces/ is not followed" all kept 'is 0 "$status"' 'archive_agrees job.trace job.out'
plant "mkdir traces && echo mine >traces/notes"
check "another program's file in traces/ stays" all one_line \
    'is mine "$(cat job.trace/traces/notes)"'
rm -rf job.trace/traces
check "recover makes the archive after this file is removed" all '"$STAGGER" recover job.trace' \
    'archive_agrees job.trace job.out'
plant "rm -r '$WORK/job.trace'"
check "a directory removed during the run is reported in at most two lines" all 'is 0 "$status"' kept \
    'within 1 2 "$(grep -c "^stagger: " job.err)"' 'lacks job.err "BAD TERM|assert"'

# ---- a rank that cannot open files -----------------------------------------------------------------------

# Without a file a rank cannot list traces/, which may stay.
ended_alike() {
    is 0 "$status" || return
    if grep -q 'cannot write the trace' job.err; then
        one_line && is "" "$(ls job.trace | grep '^traces.otf2')" && "$STAGGER" recover job.trace || return
    fi
    archive_agrees job.trace job.out
}
lines=0
for run in '2 0 0' '2 0 2' '2 1 0' '3 1 0' '3 1 1' '3 2 2'; do
    read -r ranks rank free <<<"$run"
    rm -rf job.trace
    STAGGER_CAUSES=off observe job "$ranks" "$PROGRAMS/between" 50 true "$rank" "$free"
    check "with $free files for rank $rank of $ranks the archive is whole, or one line says why not" ended_alike
    lines=$((lines + $(grep -c 'cannot write the trace' job.err)))
done
check "... some had too few" within 2 6 "$lines"
