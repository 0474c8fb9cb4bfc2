#!/bin/bash
# The library is preloaded on some ranks only, or in different versions: never a silent hang.
. "$(dirname "$0")/../lib/sh.sh"

# ranks NAME WITH... : one rank per argument, with the library (its path) or without (-)
ranks() {
    local name=$1 with arguments=()
    shift
    for with in "$@"; do
        [ ${#arguments[@]} -eq 0 ] || arguments+=(:)
        [ "$with" = - ] || arguments+=(-env LD_PRELOAD "$with")
        arguments+=(-n 1 "${program[@]}")
    done
    STAGGER_DIR=$WORK/$name.trace timeout --kill-after=5 "$PROGRAM_SECONDS" "$MPIEXEC" \
        "${arguments[@]}" </dev/null >"$name.out" 2>"$name.err"
    status=$?
}

ends_with_line() {
    within 1 123 "$status" && has_lines "$1.err" '^stagger: ' 1 &&
        has "$1.err" "^stagger: rank [0-9]+: $2; aborting the job: preload the library on all ranks or on none"
}

program=("$PROGRAMS/counts_c")
without='process [0-9]+ of this job runs without stagger'
until_printed first.err '^stagger: ' ranks first "$LIB" -
check "a job with the library on its first rank only ends with one line" ends_with_line first "$without"
until_printed last.err '^stagger: ' ranks last - "$LIB"
check "a job with the library on its last rank only ends with one line" ends_with_line last "$without"
until_printed two.err '^stagger: ' ranks two "$LIB" - "$LIB"
check "a job with the library on two ranks of three ends with one line" ends_with_line two "$without"
check "the jobs leave no directory" all 'absent first.trace' 'absent last.trace' 'absent two.trace'

# The same library with only its version string changed.
other=$WORK/other/libstagger.so
mkdir other
version=$(cat "$ROOT/VERSION")
LC_ALL=C sed "s/stagger ${version//./\\.}/stagger ${version//[0-9]/9}/g" "$LIB" >"$other"
check "the test builds a library of another version" all '! cmp -s "$LIB" "$other"'
cp "$BUILD/libstagger-otf2.so" other/
compare versions 2 "${program[@]}"
ranks versions "$LIB" "$other"
check "with different versions on its ranks a program runs as without the library" \
    all 'is 0 "$status"' 'same <(sort versions.plain.out) <(sort versions.out)' 'absent versions.trace'
check "one line reports the different versions" \
    all 'has_lines versions.err "^stagger: " 1' 'has versions.err "different versions.*stagger is inactive"'

if in_full; then
    # The shells stay alive, so that the ranks have different parents.
    program=(sh -c "$PROGRAMS/counts_c; exit \$?")
    until_printed hidden.err '^stagger: ' ranks hidden "$LIB" -
    check "when the rank without the library is hidden, the job ends after a time limit" \
        ends_with_line hidden 'in MPI_Init for 60 s: other ranks seem to run without stagger'
fi
