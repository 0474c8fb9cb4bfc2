#!/bin/bash
# Rules and variables as a run reads them: unknown names, malformed rules, ranks that differ.
. "$(dirname "$0")/../lib/sh.sh"

good_run() { all 'is 0 "$status"' "archive_agrees $1.trace $1.out"; }

STAGGER_TRAEC=otf2 observe unknown 2 "$PROGRAMS/calls" 5
check "an unknown variable is reported in one line with the nearest name" all \
    'has_lines unknown.err "^stagger: .*STAGGER_TRAEC.*STAGGER_TRACE" 1' 'good_run unknown' \
    'has_lines unknown.err "^stagger: " 3'

STAGGER_RULES='allreduce=mpich; reduce@=mpich; barrier=nonsense; barrier=mpich' \
    observe malformed 2 "$PROGRAMS/calls" 5
check "each malformed rule is reported in one line with variable and column" all \
    'has_lines malformed.err "^stagger: .*STAGGER_RULES.*column [0-9]+" 2' \
    'has_lines malformed.err "^stagger: " 4' 'good_run malformed'
check "the other rules apply" all \
    'has malformed.trace/stagger.conf "allreduce=mpich"' \
    'has malformed.trace/stagger.conf "barrier=mpich"'

STAGGER_TRACE=everything observe value 2 "$PROGRAMS/calls" 5
check "an invalid value is reported in one line that says what is expected" all \
    'has_lines value.err "^stagger: .*STAGGER_TRACE.*otf2" 1' 'good_run value' \
    'has_lines value.err "^stagger: " 3'

for bytes in 12 99999999999999999999 -5 1.5q ''; do
    STAGGER_TRACE_BYTES=$bytes observe bytes 2 "$PROGRAMS/calls" 5
    check "STAGGER_TRACE_BYTES=$bytes does not harm the program" all 'is 0 "$status"' \
        'lacks bytes.err "BAD TERM|assert"' 'within 2 4 "$(grep -c ^stagger: bytes.err)"' \
        'is "$(own_counts bytes.out)" "$(own_counts value.out)"'
    rm -rf bytes.trace
done
STAGGER_TRACE_BYTES=900g observe huge 2 "$PROGRAMS/calls" 5
check "a limit beyond all memory and disk does no harm" good_run huge

printf 'STAGGER_TRACE=stats\n# a comment\nbarrier=mpich\nreduce@*=mpich # another\n' >my.conf
STAGGER_CONFIG=$WORK/my.conf observe file 2 "$PROGRAMS/calls" 5
check "a configuration file sets variables and rules" all 'is 0 "$status"' \
    'absent file.trace/traces.otf2' 'has file.trace/stagger.conf "reduce@\*=mpich"' \
    'has_lines file.err "^stagger: " 2'
STAGGER_CONFIG=$WORK/my.conf STAGGER_TRACE=otf2 observe over 2 "$PROGRAMS/calls" 5
check "the environment overrides the file" good_run over
STAGGER_CONFIG=$WORK/none.conf observe nofile 2 "$PROGRAMS/calls" 5
check "a missing configuration file is reported in one line" all \
    'has_lines nofile.err "^stagger: .*none\.conf" 1' 'good_run nofile'
STAGGER_CONFIG=$WORK/file.trace/stagger.conf observe round 2 "$PROGRAMS/calls" 5
check "the configuration beside an archive can be read back unchanged" all \
    'is 0 "$status"' 'absent round.trace/traces.otf2' \
    'same <(grep -v -e ^STAGGER_DIR= -e "^# run " file.trace/stagger.conf) \
         <(grep -v -e ^STAGGER_DIR= -e "^# run " round.trace/stagger.conf)'

STAGGER_DIR=$WORK/differ.trace timeout "$PROGRAM_SECONDS" "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" \
    -n 1 env STAGGER_RULES='barrier=mpich' "$PROGRAMS/calls" 5 \
    : -n 2 env STAGGER_RULES='reduce=mpich' "$PROGRAMS/calls" 5 >differ.out 2>differ.err </dev/null
status=$?
check "ranks with different rules are reported in one line that names them" all \
    'has_lines differ.err "^stagger: .*rank.* 1.*2" 1' 'has_lines differ.err "^stagger: " 3' \
    'good_run differ'
check "rank 0's rules apply" all 'has differ.trace/stagger.conf "barrier=mpich"' \
    'lacks differ.trace/stagger.conf "^[^#]*reduce=mpich"'
timeout "$PROGRAM_SECONDS" "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" \
    -n 1 env STAGGER_TRACE=stats STAGGER_DIR="$WORK/zero.trace" "$PROGRAMS/calls" 5 \
    : -n 1 env STAGGER_TRACE=otf2 STAGGER_DIR="$WORK/one.trace" "$PROGRAMS/calls" 5 \
    >zero.out 2>zero.err </dev/null
status=$?
check "rank 0's mode and directory apply, too" all 'is 0 "$status"' 'absent one.trace' \
    'absent zero.trace/traces.otf2' '[ -s zero.trace/rank-000001.log ]' \
    'has_lines zero.err "^stagger: " 3'

id=$("$STAGGER" report --json differ.trace >differ.json && json differ.json 'd["sites"][0]["id"]')
export "STAGGER_SITE_$id=mpich"
observe site 2 "$PROGRAMS/calls" 5
unset "STAGGER_SITE_$id"
check "a rule for one site by its id applies" all 'ran_well site' 'good_run site' \
    "has site.trace/stagger.conf $id"
STAGGER_RULES='allreduce@calls.c:1-999=mpich; barrier@main~MPI_COMM_WORLD[0-4k]=mpich' \
    observe named 2 "$PROGRAMS/calls" 5
check "rules with names of files and functions do no harm" good_run named
STAGGER_BARRIER=mpich STAGGER_REDUCE=mpich observe short 2 "$PROGRAMS/calls" 5
check "the short variables apply" all 'ran_well short' 'good_run short'
