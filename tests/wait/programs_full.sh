#!/bin/bash
# Real programs with more ranks than processors: under the library they have the same results as in
# stock MPICH. Prints each run's time; no test asserts it.
#     programs_full.sh [nwchem] [mocassin] [coarrays] [netpipe] [scalapack]: all, or these
# timeout: 3600
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/scalapack/scalapack.bash"
SECONDS_EACH=${SECONDS_EACH:-4} # of one of ScaLAPACK's programs, which take minutes in stock MPICH
only=" ${*:-nwchem mocassin coarrays netpipe scalapack} "
STOCK_RESULT=$WORK/stock.result OURS_RESULT=$WORK/ours.result

wanted() { [[ "$only" = *" $1 "* ]]; }

# timed DIRECTORY COMMAND...: runs it there; leaves out and err, $status and the seconds it $took
timed() {
    local directory=$1 start=$EPOCHREALTIME
    shift
    (cd "$directory" && exec timeout --kill-after=5 "$PROGRAM_SECONDS" "$@" >out 2>err </dev/null)
    status=$?
    took=$("$PYTHON" -c "print('%.2f' % ($EPOCHREALTIME - $start))")
}

# figure PROGRAM RANKS SETTING STOCK OURS: prints the seconds
figure() {
    "$PYTHON" -c 'import sys
program, ranks, setting, stock, ours = sys.argv[1:]
print("# %-22s %s ranks, %-22s stock %7.2f s, ours %7.2f s, %6.3f of stock" % (program, ranks,
      setting + ":", float(stock), float(ours), float(ours) / float(stock)))' "$@"
}

# against NAME RANKS 'SETTING...' COMMAND...: runs NAME's program (with make_NAME, which prepares
# the working directory, and results_NAME, which prints the part that must be equal) without the
# library and then with it for each setting, "default" or variables joined by commas. $BEHIND is the
# command prefix of the launcher.
against() {
    local name=$1 ranks=$2 settings=$3 setting stock
    shift 3
    rm -rf stock && mkdir stock && (cd stock && "make_$name")
    # shellcheck disable=SC2086 # words
    timed stock $BEHIND "$MPIEXEC" -n "$ranks" "$@"
    stock=$took
    check "$name$TITLE runs without the library at $ranks ranks" all "is 0 $status" || { tail stock/err; return; }
    (cd stock && "results_$name") >"$STOCK_RESULT"
    check "... it has results" test -s "$STOCK_RESULT"
    for setting in $settings; do
        rm -rf ours && mkdir ours && (cd ours && "make_$name")
        # shellcheck disable=SC2046,SC2086 # words
        timed ours env $([ "$setting" = default ] || echo "${setting//,/ }") $BEHIND \
            "$STAGGER" run -o "$WORK/ours/trace" "$MPIEXEC" -n "$ranks" "$@"
        (cd ours && "results_$name") >"$OURS_RESULT"
        check "$name$TITLE has stock's results at $ranks ranks ($setting)" \
            all "is 0 $status" "${SAME:-same} $STOCK_RESULT $OURS_RESULT" || tail ours/err
        figure "$name$TITLE" "$ranks" "$setting" "$stock" "$took"
    done
}
BEHIND='' TITLE='' SAME=''

# ---- NWChem: messages and one-sided communication ----------------------------------------------------
make_nwchem() { cp "$ROOT/tests/wait/water.nw" .; }
results_nwchem() { sed -n -e 's/ *Total DFT energy = *//p' -e 's/ *Nuclear repulsion energy = *//p' out; }
# Its last digits differ between runs in stock MPICH, too.
same_energy() {
    "$PYTHON" -c 'import sys
a, b = ([float(line) for line in open(name)] for name in sys.argv[1:])
if len(a) != 2 or len(a) != len(b) or any(abs(x - y) > 1e-8 for x, y in zip(a, b)):
    sys.exit("%s and %s" % (a, b))' "$@"
}
if wanted nwchem; then
    if command -v nwchem.mpich >/dev/null; then
        # With shared-memory windows of MPICH 4.0 it computes wrong energies, even without the
        # library.
        export ARMCI_USE_WIN_ALLOCATE=0
        SAME=same_energy
        against nwchem 2 'default' nwchem.mpich water.nw
        against nwchem 4 'default default STAGGER_WAIT_HOOK=none STAGGER_WAIT=sleep STAGGER_WAIT=yield' \
            nwchem.mpich water.nw
        SAME=
    else
        skip "NWChem has stock's results" "nwchem-mpich is not installed"
    fi
fi

# ---- MOCASSIN: photons at random, reductions of arrays ----------------------------------------------
BENCHMARK=/usr/share/mocassin/benchmarks/dust/1D/p0tau1
make_mocassin() {
    mkdir input output && cp $BENCHMARK/* input
    sed -i -e 's/^nPhotons.*/nPhotons 3000/' -e 's/^maxIterateMC.*/maxIterateMC 3 95./' input/input.in
}
results_mocassin() { (cd output && cat SED.out dustGrid.out grid0.out grid3.out photoSource.out tauNu.out); }
if wanted mocassin; then
    if command -v mocassin >/dev/null && [ -d $BENCHMARK ]; then
        BEHIND="env LD_PRELOAD=$PROGRAMS/librepeatable.so"
        against mocassin 2 'default' mocassin
        against mocassin 4 'default STAGGER_WAIT_HOOK=none STAGGER_WAIT=sleep' mocassin
        BEHIND=
    else
        skip "MOCASSIN has stock's results" "mocassin or mocassin-benchmarks is not installed"
    fi
fi

# ---- coarray Fortran: windows, locks and flushes -----------------------------------------------------
make_coarrays() { :; }
results_coarrays() { sed '/ UCX  WARN /d' out; }
if wanted coarrays; then
    if caf=$(command -v caf.mpich) &&
        "$caf" -O2 -g "$ROOT/tests/mpi/coarrays.f90" -o "$WORK/coarrays" >caf.out 2>&1; then
        against coarrays 4 'default STAGGER_WAIT_HOOK=none STAGGER_WAIT=sleep' "$WORK/coarrays"
        # Atomic operations in MPICH 4.0's shared-memory windows lose updates, even without the
        # library.
        export MPIR_CVAR_NOLOCAL=1
        TITLE=" with events"
        for ranks in 2 4; do
            against coarrays $ranks 'default STAGGER_WAIT_HOOK=none STAGGER_WAIT=sleep' "$WORK/coarrays" atomic
        done
        unset MPIR_CVAR_NOLOCAL
        TITLE=
    else
        skip "coarrays have the same results as in stock MPICH" "libcoarrays-mpich-dev is not installed or does not compile"
    fi
fi

# ---- NetPIPE: ping-pong messages, each checked -------------------------------------------------------
make_netpipe() { :; }
results_netpipe() { grep -o '[0-9]* bytes *[0-9]* times --> *Integrity check.*' out err | sed 's/^[a-z]*://'; }
if wanted netpipe; then
    if command -v NPmpich2 >/dev/null; then
        against netpipe 2 'default STAGGER_WAIT=sleep' NPmpich2 -i -u 131072 -n 50
        one=$("$PYTHON" -c 'import os; print(min(os.sched_getaffinity(0)))')
        BEHIND="taskset -c $one" TITLE=" on one processor"
        against netpipe 2 'default STAGGER_WAIT_HOOK=none STAGGER_WAIT=sleep' NPmpich2 -i -u 131072 -n 20
        BEHIND='' TITLE=
    else
        skip "NetPIPE has stock's results" "netpipe-mpich2 is not installed"
    fi
fi

# ---- ScaLAPACK: collectives made of messages ---------------------------------------------------------
# lines DIRECTORY STATUS: the output without the launcher's text and without numbers that have a
# decimal point: times, rates, and residuals, which PASSED judges. The last line of a killed program
# may be truncated.
lines() {
    sed -e '/^=====*$/d' -e '/^=  /d' -e '/^YOUR APPLICATION TERMINATED/d' -e '/^This typically refers/d' \
        -e '/^Please see the FAQ/d' -e '/^ *$/d' "$1/out" |
        if [ "$2" -eq 0 ]; then cat; else sed '$d'; fi |
        sed -e 's/[-+0-9]*\.[0-9]*\([DE][-+]*[0-9]*\)*//g' -e 's/\*\**//g' -e 's/  */ /g'
}
# begins_alike: the shorter output is a prefix of the longer one
begins_alike() {
    local a b
    a=$(wc -l <stock.lines) b=$(wc -l <ours.lines)
    head -n $((a < b ? a : b)) stock.lines >stock.begin
    head -n $((a < b ? a : b)) ours.lines >ours.begin
    same stock.begin ours.begin
}
if wanted scalapack; then
    if [ -n "$SCALAPACK" ]; then
        export GFORTRAN_UNBUFFERED_PRECONNECTED=1 # what is printed is there when a program is ended
        seconds=$PROGRAM_SECONDS PROGRAM_SECONDS=$SECONDS_EACH
        for program in $(scalapack_programs); do
            for who in stock ours; do
                rm -rf $who && mkdir $who && cp /usr/share/scalapack/*.dat /usr/share/scalapack/BLACS/*.dat $who
            done
            timed stock "$MPIEXEC" -n 4 "$SCALAPACK/$program"
            stock=$took stock_status=$status
            lines stock "$status" >stock.lines
            [ "$stock_status" -ne 0 ] || PROGRAM_SECONDS=$seconds
            timed ours "$STAGGER" run -t off "$MPIEXEC" -n 4 "$SCALAPACK/$program"
            PROGRAM_SECONDS=$SECONDS_EACH
            lines ours "$status" >ours.lines
            check "$program prints the same as in stock MPICH, as far as it gets in $SECONDS_EACH s" begins_alike
            [ "$stock_status" -ne 0 ] || check "... it ends, as in stock MPICH" is 0 "$status"
            figure "$program" 4 "$(wc -l <stock.lines) and $(wc -l <ours.lines) lines, status $stock_status and $status" \
                "$stock" "$took"
        done
        PROGRAM_SECONDS=$((2 * seconds))
        unset GFORTRAN_UNBUFFERED_PRECONNECTED
        cp stock/*.dat .
        while read -r program rest; do
            start=$EPOCHREALTIME
            check "$program completes the results recorded with stock MPICH" \
                is "$program $rest" "$(STAGGER_TRACE=off observed "$program" 4)"
            "$PYTHON" -c "print('# %s: %.2f s' % ('$program', $EPOCHREALTIME - $start))"
        done <"$ROOT/tests/scalapack/stock-4-ranks.txt"
        PROGRAM_SECONDS=$seconds
    else
        skip "ScaLAPACK's programs print the same as in stock MPICH" "scalapack-mpi-test is not installed"
    fi
fi
