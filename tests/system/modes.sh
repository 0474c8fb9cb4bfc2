#!/bin/bash
# STAGGER_TRACE and STAGGER_QUIET, the two lines, and both ways of stagger run.
. "$(dirname "$0")/../lib/sh.sh"

observe otf2 2 "$PROGRAMS/calls" 30
check "a run prints one line at its start and one at its end" ran_well otf2
check "the last line names the archive" \
    has <(grep '^stagger: ' otf2.err | tail -n 1) 'otf2\.trace'
check "the library prints nothing on standard output" lacks otf2.out 'stagger'

STAGGER_QUIET=1 observe quiet 2 "$PROGRAMS/calls" 30
check "STAGGER_QUIET=1 silences both lines" lacks quiet.err 'stagger'
check "STAGGER_QUIET=1 still writes the archive" archive_agrees quiet.trace quiet.out

STAGGER_TRACE=stats observe stats 2 "$PROGRAMS/calls" 30
check "a run with STAGGER_TRACE=stats ends well" all 'is 0 "$status"' 'has_lines stats.err "^stagger: " 2'
check "STAGGER_TRACE=stats writes no archive and keeps the logs" all 'absent stats.trace/traces.otf2' \
    '[ -s stats.trace/rank-000000.log ]' '[ -s stats.trace/rank-000001.log ]'
check "the report reads the statistics" all 'report_json stats.trace stats.json' \
    'is 180 "$(json stats.json "sum(s[\"calls\"] for s in d[\"sites\"])")"' \
    'is False "$(json stats.json "d[\"partial\"]")"'
report_json otf2.trace otf2.json
for field in op function line bytes calls algorithm; do
    check "statistics and archive agree on each site's $field" \
        is "$(json otf2.json "sorted(s['id'] + str(s['$field']) for s in d['sites'])")" \
        "$(json stats.json "sorted(s['id'] + str(s['$field']) for s in d['sites'])")"
done

STAGGER_TRACE=off observe off 2 "$PROGRAMS/calls" 30
check "a run with STAGGER_TRACE=off ends well" is 0 "$status"
check "STAGGER_TRACE=off writes neither archive nor logs" \
    is "" "$(find off.trace -name '*.log' -o -name '*.otf2' 2>/dev/null)"

# Without STAGGER_DIR.
mkdir here
(cd here && mpirun_stagger 2 "$PROGRAMS/calls" 5) >here.out 2>here.err
check "the default directory is stagger-PROGRAM-ID, the same for all ranks" \
    is 1 "$(find here -maxdepth 1 -name 'stagger-calls-*' | wc -l)"
check "this directory holds an archive" archive_agrees "$(echo here/stagger-calls-*)" here.out
(cd here && mpirun_stagger 2 "$PROGRAMS/calls" 5) >here.out 2>here.err
check "another run has another directory" \
    is 2 "$(find here -maxdepth 1 -name 'stagger-calls-*' | wc -l)"

# stagger run.
timeout "$PROGRAM_SECONDS" "$STAGGER" run -o around.trace -- "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9 \
    >around.out 2>around.err </dev/null
status=$?
check "stagger run works before the launcher" \
    all 'ran_well around' 'archive_agrees around.trace around.out'
timeout "$PROGRAM_SECONDS" "$MPIEXEC" -n 2 "$STAGGER" run -o inside.trace -- "$PROGRAMS/calls" 9 \
    >inside.out 2>inside.err </dev/null
status=$?
check "stagger run works after the launcher" \
    all 'ran_well inside' 'archive_agrees inside.trace inside.out'
timeout "$PROGRAM_SECONDS" "$STAGGER" run -o ruled.trace --trace stats --rule 'barrier=mpich' \
    --rule 'allreduce=mpich' -- "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9 >ruled.out 2>ruled.err </dev/null
check "its options apply to the run" all 'has ruled.trace/stagger.conf "barrier=mpich"' \
    'has ruled.trace/stagger.conf "allreduce=mpich"' 'has ruled.trace/stagger.conf "TRACE=stats"'
mkdir settings && printf '%s\n' STAGGER_SLOTS=16 reduce=mpich >settings/own.conf
(cd settings && STAGGER_TRIAL='reduce=srm|mpich' timeout "$PROGRAM_SECONDS" "$STAGGER" run --config own.conf --depth 3 \
    --trial 'barrier=mpich|srm' -T 'allreduce=mpich|srm' -o ../set.trace -- \
    "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9 >../set.out 2>../set.err </dev/null)
check "--config, --depth and --trial apply to the run and override the environment" all \
    'has set.trace/stagger.conf "^reduce=mpich"' 'has set.trace/stagger.conf "^STAGGER_SLOTS=16"' \
    'has set.trace/stagger.conf "^STAGGER_DEPTH=3"' \
    'is "STAGGER_TRIAL=barrier=mpich|srm;allreduce=mpich|srm;reduce=srm|mpich" \
        "$(grep STAGGER_TRIAL= set.trace/stagger.conf)"'
# refused WORDS OPTION...: the program does not start, and one line gives the reason
refused() {
    local words=$1
    shift
    "$STAGGER" run "$@" -- touch started >/dev/null 2>refused.err
    is 2 $? && absent started && has_lines refused.err . 1 && has refused.err "^stagger: .*$words"
}
check "wrong options are reported before the program starts" all \
    'refused "--config .nowhere.: No such file" --config nowhere' \
    'refused "--config .settings.: Is a directory" --config settings' \
    'refused "--depth .0.: expected" --depth 0' 'refused "--depth .x.: expected" -d x' \
    'refused "--trial, column" --trial barrier=srm' \
    'refused "--trial, column .*nonsense" --trial "barrier=srm|nonsense"' \
    'refused "--trial, column 1: expected a trial" --trial " "'
"$STAGGER" run -- sh -c 'exit 23' >/dev/null 2>run.err
check "it exits with the command's status" is 23 $?
"$STAGGER" run -- "$PROGRAMS/static_program" >static.out 2>static.err
status=$?
check "a statically linked program runs, and one line says that it cannot be recorded" all \
    'is 0 "$status"' 'has static.out "^static program ran$"' 'has_lines static.err "." 2' 'has_lines static.err "^stagger: .*static" 1' \
    'has static.err "^stagger: nothing was recorded: "'
"$STAGGER" run -- "$WORK/nowhere" >/dev/null 2>none.err
check "a missing command is reported in one line" has_lines none.err '.' 1
