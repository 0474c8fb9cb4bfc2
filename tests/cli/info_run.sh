#!/bin/bash
# stagger itself, stagger info and stagger run, as a user calls them. Only the last checks need MPI.
# The build is the first argument or $BUILD.
BUILD=${1:-${BUILD:-}}
. "$(dirname "$0")/../lib/sh.sh"

# call NAME ARGUMENT...: stagger's output in NAME.out and NAME.err, its status in $status
call() {
    local name=$1
    shift
    "$STAGGER" "$@" >"$name.out" 2>"$name.err" </dev/null
    status=$?
}

# refused NAME REGEX [STATUS]: exit status STATUS (2), empty stdout, one line on stderr that matches
refused() {
    is "${3:-2}" "$status" && empty "$1.out" && has_lines "$1.err" '' 1 &&
        has "$1.err" "^stagger: .*$2"
}

unrecorded='stagger: nothing was recorded: no process called MPI_Init, or a line above says why'

# ---- stagger ------------------------------------------------------------------------------------------

call version --version
check "--version prints the version" all 'is 0 "$status"' \
    'is "stagger $(cat "$ROOT/VERSION")" "$(cat version.out)"' 'empty version.err'
call help --help
check "--help lists the commands, two command lines and the man page" all 'is 0 "$status"' \
    'has help.out "^  run  "' 'has help.out "^  report  "' 'has help.out "^  recover  "' \
    'has help.out "^  info  "' 'has help.out "stagger run mpiexec"' 'has help.out "stagger report "' \
    'has help.out "man 7 libstagger"' 'empty help.err'
call nothing
check "without a command stagger lists the commands, with status 2" all 'is 2 "$status"' 'empty nothing.out' \
    'has nothing.err "^  run  "' 'has nothing.err "^  doctor  "'
call unknown fly
check "an unknown command is reported in one line with status 2" refused unknown "'fly' is not a command"
"$STAGGER" --help >/dev/full 2>full.err
check "unwritable output is reported in one line with status 1" all "is 1 $?" \
    'has_lines full.err "^stagger: the output cannot be written: " 1'

# ---- stagger info -------------------------------------------------------------------------------------

call info info
check "info prints nothing on stderr" all 'is 0 "$status"' 'empty info.err'
check "it lists the algorithms with operations and parameters" all \
    'has info.out "^  mpich  barrier, reduce, allreduce, bcast; "' 'has info.out "no parameters"'
check "it lists the variables with their defaults" all \
    'has info.out "^  STAGGER_TRACE=otf2  \[default\]"' \
    'has info.out "^  STAGGER_TRACE_BYTES=64m  \[default\]"' \
    'has info.out "^  STAGGER_SITE_<id>=  \[default\]"' \
    'has_lines info.out "^  STAGGER_[A-Z_]+(<id>)?=" 49'
check "it shows the forms by number of ranks, and this machine's processors" all \
    'has info.out "^  up to 8 ranks: flat .*, climb .*, chunks$"' \
    'has info.out "^  more: climb .*, chunks; barriers and allreduces in groups if "' \
    'has info.out "^    ([0-9]+ processors?, .* sockets?|climb: /sys does not show .*)$"'
check "it lists the rules in force" has info.out \
    '^\*=srm\(form=auto,where=inside,chunk=16,progress=auto,group=auto,outer=auto\) # default$'
check "it lists shared memory, verbs devices and their use" all \
    'has info.out "^  shared memory: CMA \(process_vm_readv\) is (allowed|refused: .+)"' \
    'has info.out "^  /dev/shm: (none|[0-9.]+ MiB, [0-9.]+ MiB free)"' \
    'has info.out "^  verbs devices: ."' 'has info.out "^  in use: shared memory"'
check "it says which RDMA device would be used, or why none" \
    has info.out '^  verbs: (device [^ ]+, port [0-9]+ \(.*|not used: .+)'
check "it lists the sources of samples and their cost, or why there are none" all \
    'has info.out "^  thread clock: [0-9]+ ns a reading; needs CLOCK_THREAD_CPUTIME_ID\$"' \
    'has info.out "^  counters: ([0-9]+ ns a reading|unavailable \([^)]+\)); needs perf_event_open"' \
    'has info.out "^      instructions, cycles, cache misses\$"'
check "it finds the libraries of the build" all "has info.out '^  libstagger.so: $BUILD/'" \
    "has info.out '^  libstagger-otf2.so: $BUILD/'" 'has info.out "^  libunwind: "' \
    'has info.out "^  OTF2: /"' 'has info.out "^  libdw: /"'
launcher=$(command -v mpiexec.mpich)
if [ -n "$launcher" ]; then
    check "it finds MPICH's launcher" has info.out "^  MPICH's launcher: $launcher\$"
else
    skip "it finds MPICH's launcher" "no mpiexec.mpich in PATH"
fi

check "it says how the library takes part in MPICH's waiting, and which hooks exist" all \
    'has info.out "^  waiting: (hook [a-z]+, by [a-z_]+ of /.+|no hook serves for /.+|MPICH.s library .+)$"' \
    'has info.out "^  hooks that the library has: ucx( |$)"'
STAGGER_WAIT_HOOK=none call hookless info
check "... it says when a setting forbids the hook" has hookless.out '^  waiting: no hook, as STAGGER_WAIT_HOOK says$'

printf 'STAGGER_DEPTH=3\nreduce@solver.c:88=mpich\n' >my.conf
STAGGER_CONFIG=my.conf STAGGER_QUIET=1 STAGGER_SITE_3F2A9C1B=mpich call set info
check "it lists the settings of the environment and the file" all 'is 0 "$status"' 'empty set.err' \
    'has set.out "^  STAGGER_QUIET=1  \[environment, default 0\]"' \
    'has set.out "^  STAGGER_DEPTH=3  \[file, default 1\]"' \
    'has set.out "^  STAGGER_SITE_3f2a9c1b=mpich  \[environment\]"' \
    'has set.out "^reduce@solver.c:88=mpich # my.conf:2$"'
STAGGER_RULES='reduce=fast' STAGGER_TRAECE=1 call faults info
check "it reports wrong rules and variables" all 'is 0 "$status"' \
    'has_lines faults.err "^stagger: STAGGER_RULES, column 8: unknown algorithm .fast." 1' \
    'has_lines faults.err "^stagger: unknown variable STAGGER_TRAECE .* STAGGER_TRACE$" 1' \
    'has_lines faults.err "" 2'
call extra info here
check "info accepts no arguments" refused extra "unexpected argument 'here'"

# ---- stagger run: the command line ----------------------------------------------------------------------

call run_help run --help
check "run --help prints its options" all 'is 0 "$status"' 'has run_help.out "--rule"'
call run_nothing run -o out
check "run without a program is refused" refused run_nothing 'PROGRAM is missing'
call run_option run --fast true
check "an unknown long option is refused" refused run_option "unrecognized option '--fast'"
call run_letter run -xo out true
check "an unknown short option is refused" refused run_letter "invalid option -- 'x'"
call run_value run -o
check "an option without its value is refused" refused run_value "option requires an argument -- 'o'"
call run_trace run --trace all touch ran
check "an unknown trace mode is refused before the program runs" all \
    "refused run_trace \"--trace 'all': expected otf2, stats or off\"" 'absent ran'
call run_rule run --rule 'reduce=mpich' --rule 'reduce@f=' touch ran
check "an invalid rule is refused before the program runs" all \
    'refused run_rule "--rule, column 10: expected an algorithm"' 'absent ran'
call run_dir run -o '' true
check "an empty directory name is refused" refused run_dir "--output ''"
call run_missing run ./nowhere
check "a missing program gives status 127" refused run_missing "'\./nowhere': not found" 127
touch plain
call run_mode run ./plain
check "a program that is not executable gives status 126" \
    refused run_mode "'\./plain': Permission denied" 126
printf '#!/nowhere/sh\n' >script
chmod +x script
call run_script run ./script
check "a script without its interpreter gives status 126" refused run_script 'interpreter' 126

# ---- stagger run: the environment -----------------------------------------------------------------------

# In a sanitizer build, programs without the sanitizer load a library that has it.
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0

variable() { sed -n "s/^$1=//p" "$2"; }

call env run -o out --rule 'reduce=mpich' --rule 'barrier=mpich' --trace stats -- env
check "run sets the variables of its options" all 'is 0 "$status"' 'is "$unrecorded" "$(cat env.err)"' \
    'is "$LIB" "$(variable LD_PRELOAD env.out)"' \
    'is "$PWD/out" "$(variable STAGGER_DIR env.out)"' \
    'is "reduce=mpich;barrier=mpich" "$(variable STAGGER_RULES env.out)"' \
    'is stats "$(variable STAGGER_TRACE env.out)"'
call bare run env -u STAGGER_SETUP_AFTER
check "without options it sets only LD_PRELOAD and a name to find the run by" all 'is "$LIB" "$(variable LD_PRELOAD bare.out)"' \
    'is STAGGER_LAUNCH "$(grep -o "^STAGGER_[A-Z_]*" bare.out)"'
STAGGER_RULES='allreduce=mpich' call rules run -r 'reduce=mpich' env
check "rules of the command line precede STAGGER_RULES" \
    is 'reduce=mpich;allreduce=mpich' "$(variable STAGGER_RULES rules.out)"
libc=$(ldd "$STAGGER" | awk '$1 == "libm.so.6" { print $3 }')
LD_PRELOAD="$libc /nowhere/libstagger.so" call preload run env
check "run keeps LD_PRELOAD's other libraries behind its own, and drops other copies of its own" \
    is "$LIB:$libc" "$(variable LD_PRELOAD preload.out)"
LD_PRELOAD="$libc:/nowhere/libasan.so.8 /nowhere/libclang_rt.asan-x86_64.so" call first run env
check "sanitizers, which must be first, stay before the library" \
    is "/nowhere/libasan.so.8:/nowhere/libclang_rt.asan-x86_64.so:$LIB:$libc" "$(variable LD_PRELOAD first.out)"
ASAN_OPTIONS=detect_leaks=0 call asan run env
check "run tells the sanitizer to accept the library in front" \
    is detect_leaks=0:verify_asan_link_order=0 "$(variable ASAN_OPTIONS asan.out)"
call nested run -o one "$STAGGER" run -o two env
check "run within run preloads the library once" all 'is "$LIB" "$(variable LD_PRELOAD nested.out)"' \
    'is "$PWD/two" "$(variable STAGGER_DIR nested.out)"'
call abs run -o /tmp/x/../y env
check "an absolute directory is passed on unchanged" \
    is /tmp/x/../y "$(variable STAGGER_DIR abs.out)"
call status run sh -c 'exit 37'
check "run exits with the program's status" all 'is 37 "$status"' 'is "$unrecorded" "$(cat status.err)"'
call words run -- echo -o 'a  b' --rule ''
check "the program's arguments arrive unchanged" is '-o a  b --rule ' "$(cat words.out)"

mkdir -p tree/bin tree/lib/stagger 'with blank'
cp "$STAGGER" tree/bin/stagger
cp "$STAGGER" 'with blank/stagger'
tree/bin/stagger run true >lost.out 2>lost.err
status=$?
check "run without the library says where it searched" refused lost 'libstagger\.so not found' 1
cp "$LIB" tree/lib/stagger/
tree/bin/stagger run env >found.out 2>&1
check "an installed stagger finds the library in ../lib/stagger" \
    is "$PWD/tree/lib/stagger/libstagger.so" "$(variable LD_PRELOAD found.out)"
cp "$LIB" 'with blank/'
# The loader splits LD_PRELOAD at blanks, but LD_LIBRARY_PATH only at colons.
LD_LIBRARY_PATH=/nowhere 'with blank/stagger' run 'with blank/stagger' run env >blank.out 2>blank.err
status=$?
check "a library in a directory with a blank is named alone, and its directory is searched" all 'is 0 "$status"' \
    'is "$unrecorded" "$(cat blank.err)"' 'is libstagger.so "$(variable LD_PRELOAD blank.out)"' \
    'is "$PWD/with blank:/nowhere" "$(variable LD_LIBRARY_PATH blank.out)"'
'with blank/stagger' run cat /proc/self/maps >blank.maps
check "the loader finds the library there" has blank.maps "/with blank/libstagger\.so$"
mkdir a:b && cp "$STAGGER" "$LIB" a:b
a:b/stagger run true >colon.out 2>colon.err
status=$?
check "a library path that the loader cannot take is reported in one line" refused colon "cannot preload a path with a ':'" 1

# ---- stagger run: programs without preloading -------------------------------------------------------------

printf 'int main(void) { return 5; }\n' >five.c
if "${CC:-cc}" -static five.c -o five 2>cc.err; then
    call static run ./five
    check "a static program is reported, and runs with its own status" all 'is 5 "$status"' \
        'has_lines static.err "" 2' \
        'has static.err "^stagger: \./five is statically linked: the library cannot be preloaded; running it unobserved$"'
    call behind run env A=1 ./five
    check "a static program behind a launcher is reported" all 'is 5 "$status"' \
        'has_lines behind.err "\./five is statically linked" 1' 'has_lines behind.err "" 2'
else
    skip "a static program is reported, and runs with its own status" "no static C library"
fi
cp "$(type -P true)" uid
if [ "$(id -u)" -eq 0 ] && chown 1 uid && chmod 4755 uid; then
    call uid run ./uid
    check "a set-uid program is reported, and runs" all 'is 0 "$status"' \
        'has_lines uid.err "^stagger: \./uid is set-uid, .*: the library cannot be preloaded; running it unobserved$" 1'
else
    skip "a set-uid program is reported, and runs" "only root can make one of another user"
fi

# ---- under MPI --------------------------------------------------------------------------------------------

if command -v "$MPIEXEC" >/dev/null && [ -x "$PROGRAMS/calls" ]; then
    outer() {
        rm -rf outer
        timeout "$PROGRAM_SECONDS" "$STAGGER" run -o outer "$MPIEXEC" -n 2 "$PROGRAMS/calls" 5 \
            >outer.out 2>outer.err </dev/null
        status=$?
    }
    # A screen that takes a busy machine too long is given up.
    until_printed outer.err "^more: --calls " outer
    check "stagger run mpiexec records a program" all 'is 0 "$status"' '[ -s outer/traces.otf2 ]' \
        'has_lines outer.err "^stagger: " 2'
    timeout "$PROGRAM_SECONDS" "$MPIEXEC" -n 2 "$STAGGER" run -o inner "$PROGRAMS/calls" 5 \
        >inner.out 2>inner.err </dev/null
    status=$?
    check "mpiexec stagger run records a program, too" all 'is 0 "$status"' '[ -s inner/traces.otf2 ]' \
        'has_lines inner.err "^stagger: " 2'
else
    skip "stagger run mpiexec records a program" "no MPICH or no test programs"
fi
