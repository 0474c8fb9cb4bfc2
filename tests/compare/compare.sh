#!/bin/bash
# stagger compare as users run it: golden outputs of runs written by hand, options, bad input.
# STAGGER_GOLDEN=1 writes the golden files anew.
golden_update=${STAGGER_GOLDEN:-}
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=compare
. "$ROOT/tests/report/golden.bash"

fixtures compare/make_pair report/make_archive
./make_pair a b || exit 1
for kind in known foreign without-collectives statistics; do
    [ "$kind" = statistics ] && mkdir statistics
    ./make_archive "$kind" "$kind" || exit 1
done

check "the text of a comparison is the golden one" golden pair.txt a b
check "the JSON of it is the golden one" golden pair.json --json a b
check "no line of the text is wider than 120 columns" \
    all 'has pair.txt "^.{100}"' 'lacks pair.txt "^.{121}"'
check "a run and itself do not differ" all '"$STAGGER" compare a a >same.txt' \
    'lacks same.txt "(less|more) in B"' 'has same.txt "within the noise"'
check "sides change places with the arguments" \
    has <("$STAGGER" compare b a) 'more in B at 2'
check "another tool's archive is compared by operation" \
    has <("$STAGGER" compare foreign foreign) '^3 call sites in both'
check "a run without collectives has nothing in common" \
    has <("$STAGGER" compare a without-collectives) '^0 call sites in both'
check "statistics are compared without intervals" all \
    '"$STAGGER" compare statistics statistics >statistics.txt' \
    'has statistics.txt "A has no events: there are no intervals"' \
    'has statistics.txt "not known"'
check "different numbers of ranks are said" \
    has <("$STAGGER" compare a known) 'note: 2 ranks against 4'

check "one run is bad usage" refused 2 "B is missing" a
check "no run is bad usage" refused 2 "A and B are missing"
check "three runs are bad usage" refused 2 "two runs at a time" a b a
check "an unknown option is bad usage" refused 2 "unrecognized option" --nonsense a b
check "a directory that is not there is refused" refused 1 "nowhere: No such file" a nowhere
check "an empty directory is refused" refused 1 "neither traces.otf2 nor" "$(mktemp -d -p .)" a
check "a full disk is an error" all '! "$STAGGER" compare a b >/dev/full 2>full.err' \
    'has full.err "cannot write it"'

if command -v valgrind >/dev/null && ! grep -q __asan_init "$STAGGER"; then
    check "valgrind finds nothing in a comparison" \
        bash -c "valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
            --suppressions='$ROOT/tests/report/valgrind.supp' '$STAGGER' compare a b >/dev/null"
else
    skip "valgrind on a comparison" "no valgrind, or a sanitizer build"
fi
