#!/bin/bash
# long
# Under AddressSanitizer and UndefinedBehaviorSanitizer: the unit tests, the command, and MPI
# programs with a library built so. Leaks are checked in the first two; MPICH and UCX have their
# own. Not covered: exception.cc, because the sanitizer's runtime replaces the unwinder's entry
# point. threads.sh covers ThreadSanitizer.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lib/sanitized.bash"

if ! "$ROOT/.ci/deps" --missing fuzz >/dev/null; then
    skip "the library is clean under sanitizers" "clang or its sanitizers are not installed"
    exit
fi
san=$SANITIZED
check "library, command and unit tests build with the sanitizers, by clang without a warning" \
    sanitized_build "$san/stagger" "$san"/libstagger{,-otf2,-verbs}.so unit
export UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$ROOT/tests/system/lsan.supp:print_suppressions=0

# Unit tests find other files of tests/ from the root. Two at a time: none of them uses MPI. The
# ordinary build runs every seed; a part of them is enough for the sanitizers.
in_full || export SG_TEST_STEP=11
find "$san/tests" -name 'test_*' -type f -perm -u+x | sort | while IFS= read -r program; do
    [ ! -e "$ROOT/tests/${program#"$san"/tests/}.c" ] || echo "$program"
done >unit_tests
(cd "$ROOT" && xargs -P 2 -I PROGRAM bash -c '
    log=$1/unit-$(basename "$(dirname "$2")")-$(basename "$2")
    timeout 600 "$2" >"$log.out" 2>&1
    echo $? >"$log.status"' _ "$WORK" PROGRAM) <unit_tests
unit_test() {
    local log
    log=unit-$(basename "$(dirname "$1")")-$(basename "$1")
    is 0 "$(cat "$log.status")" && return
    cat "$log.out"
    return 1
}
while IFS= read -r program; do
    check "unit test ${program#"$san"/tests/} is clean" unit_test "$program"
done <unit_tests

# ---- MPI programs ------------------------------------------------------------------------------------
asan=$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")
# UCX catches faults for its own report; the sanitizer must receive them.
export ASAN_OPTIONS=detect_leaks=0 UCX_ERROR_SIGNALS=
clean() { lacks "$1.err" 'AddressSanitizer|runtime error:' && lacks "$1.out" 'AddressSanitizer'; }
PRELOAD="$asan $san/libstagger.so"

under_sanitizers() {
    local name=$1 ranks=$2
    shift 2
    observe "$name" "$ranks" "$@"
    check "$name is clean under a library with sanitizers" all 'is 0 "$status"' "clean $name"
}
under_sanitizers counts_c 2 "$PROGRAMS/counts_c"
under_sanitizers counts_f08 2 "$PROGRAMS/counts_f08" thread
under_sanitizers counts_mpif 2 "$PROGRAMS/counts_mpif"
under_sanitizers threads 2 "$PROGRAMS/threads" 20
under_sanitizers comms 2 "$PROGRAMS/comms"
under_sanitizers errors 2 "$PROGRAMS/errors"
under_sanitizers intercomm 3 "$PROGRAMS/intercomm"
under_sanitizers pcontrol 2 "$PROGRAMS/pcontrol"
under_sanitizers sessions 2 "$PROGRAMS/sessions" only
under_sanitizers fork 2 "$PROGRAMS/fork"
under_sanitizers plugin 2 "$PROGRAMS/dlopen_main" "$PROGRAMS/libplugin.so"
STAGGER_DEPTH=4 under_sanitizers sites 2 "$PROGRAMS/sites"
STAGGER_TRACE_BYTES=1m observe limit 2 "$PROGRAMS/calls" 10000
check "a run beyond its limit is clean" all 'is 0 "$status"' 'clean limit'
STAGGER_TRACE=stats under_sanitizers statistics 2 "$PROGRAMS/sites"
STAGGER_RULES='barrier=nonsense;reduce@sites.c:1-99=mpich' under_sanitizers rules 2 "$PROGRAMS/sites"
observe kill 2 "$PROGRAMS/ending" kill 100
# Between nodes, with progress by a thread and by signals.
export STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='*=adaptive;*=bypass'
cases='mixed freed-communicators threads'
for STAGGER_PROGRESS in thread signal; do
    export STAGGER_PROGRESS
    for case in $cases; do
        under_sanitizers "posts-$case-$STAGGER_PROGRESS" 3 "$PROGRAMS/posts" "$case"
    done
    if in_full || [ "$STAGGER_PROGRESS" = thread ]; then
        under_sanitizers "soak-$STAGGER_PROGRESS" 3 "$PROGRAMS/soak" 200 1 1 20
    fi
    cases='mixed ahead freed-requests'
done
unset STAGGER_RANKS_PER_NODE STAGGER_RULES STAGGER_PROGRESS

# ---- the command -------------------------------------------------------------------------------------
export ASAN_OPTIONS=detect_leaks=1
STAGGER=$san/stagger
tool() {
    local sentence=$1 expected=$2
    shift 2
    "$STAGGER" "$@" >tool.out 2>tool.err
    status=$?
    check "$sentence" all 'is '"$expected"' "$status"' \
        'lacks tool.err "Sanitizer|runtime error:"'
}
tool "stagger --help is clean" 0 --help
tool "stagger --version is clean" 0 --version
tool "stagger info is clean" 0 info
tool "stagger report is clean" 0 report threads.trace
tool "stagger report --json is clean" 0 report --json threads.trace
tool "stagger report --csv is clean" 0 report --csv --sort calls --top 2 threads.trace
tool "stagger report of statistics is clean" 0 report statistics.trace
tool "stagger recover is clean" 0 recover kill.trace
tool "stagger report of a recovered run is clean" 0 report kill.trace
tool "stagger report of nothing is clean" 1 report none.trace
tool "a wrong option is bad usage, cleanly" 2 report --nonsense
# Runs every command on data that others have prepared, sound runs included.
strangers() {
    BUILD=$san UBSAN_OPTIONS=print_stacktrace=1:log_path=$WORK/found \
        ASAN_OPTIONS=detect_leaks=1:log_path=$WORK/found bash "$ROOT/tests/cli/strangers.sh" >strangers.out 2>&1
    has strangers.out '^ok - watch prints no escape sequence' && is '' "$(cat found.* 2>/dev/null)"
}
check "every command that reads a run is clean on a stranger's run" strangers
# The child has no sanitizer's runtime: it gets the ordinary library.
mkdir beside && cp "$san/stagger" "$LIB" beside && STAGGER=beside/stagger
tool "stagger run is clean" 0 run --rule 'barrier=mpich' -- true
STAGGER=$san/stagger
truncate -s 7000 kill.trace/rank-000001.log 2>/dev/null
rm -rf kill.trace/traces*
tool "stagger recover of a log cut short is clean" 0 recover kill.trace
