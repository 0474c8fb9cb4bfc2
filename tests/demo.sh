#!/bin/bash
# The demo: tests/demo.sh BUILD. Observes two programs with skew and prints their reports:
# ScaLAPACK's LU test xdlu on 2 ranks, and a conjugate-gradient solver in which one rank has more
# work than the others, on 2 and on 4 ranks. Exits with 1 if a part failed.
set -u
export LC_ALL=C

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${1:-$ROOT/build}" && pwd) || exit 1
STAGGER=$BUILD/stagger
MPIEXEC=$("$ROOT/.ci/find-mpi" exec) || { echo "demo: no MPICH launcher found" >&2; exit 1; }
DEMO=$BUILD/demo
failed=0

rm -rf "$DEMO"
mkdir -p "$DEMO" || exit 1
cd "$DEMO" || exit 1

# observe NAME RANKS TITLE COMMAND...: runs it under stagger and prints its report.
observe() {
    local name=$1 ranks=$2 title=$3
    shift 3
    printf '\n==== %s, %s ranks\n\n' "$title" "$ranks"
    printf '$ stagger run -o %s -- %s -n %s %s\n' "$name" "$MPIEXEC" "$ranks" "${*##*/}"
    if ! timeout 600 "$STAGGER" run -o "$DEMO/$name" -- "$MPIEXEC" -n "$ranks" "$@" \
        >"$name.output" </dev/null; then
        echo "demo: $title failed; its output is in $DEMO/$name.output" >&2
        failed=1
        return
    fi
    grep -E 'tests completed and passed|^step ' "$name.output"
    printf '\n$ stagger report %s\n' "$name"
    "$STAGGER" report "$DEMO/$name" || failed=1
    [ -s "$DEMO/$name/traces.otf2" ] || failed=1
}

for directory in /usr/lib/*/scalapack/mpich-tests; do
    [ -x "$directory/xdlu" ] && xdlu=$directory/xdlu
done
if [ -n "${xdlu:-}" ]; then
    cp /usr/share/scalapack/LU.dat .
    observe lu-2 2 "ScaLAPACK's LU factorization test" "$xdlu"
else
    echo "demo: scalapack-mpi-test is not installed" >&2
    failed=1
fi
observe cg-2 2 "conjugate gradients, rank 0 slow" "$BUILD/mpi/cg" -n 256 -t 2 -s 0 -w 20
# A small grid: with more ranks than processors MPICH's collectives are slow.
observe cg-4 4 "conjugate gradients, rank 2 slow" "$BUILD/mpi/cg" -n 32 -t 2 -s 2 -w 10000

cat <<END

==== The archives

The archives are in $DEMO/{lu-2,cg-2,cg-4}. Each opens in any reader of OTF2:

    otf2-print $DEMO/cg-2/traces.otf2
    vite $DEMO/cg-2/traces.otf2
    vampir $DEMO/cg-2/traces.otf2

and $STAGGER report --help says what else the report can show.
END
exit "$failed"
