#!/bin/bash
# long
# The pages in headless Chromium: no console message, no request, charts drawn, a table that sorts
# and filters, no overlaps at two widths, no serious accessibility fault (axe-core). The full check
# leaves screenshots in BUILD/screenshots. Needs Chromium, node and npm's registry (once: modules are
# kept in BUILD).
. "$(dirname "$0")/../lib/sh.sh"

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
modules=$BUILD/page-modules
if [ -z "$chromium" ]; then
    skip "a browser shows the pages" "no chromium"
    exit 0
fi
if ! command -v node >/dev/null; then
    skip "a browser shows the pages" "no node"
    exit 0
fi
if ! cmp -s "$ROOT/tests/page/npm/package-lock.json" "$modules/package-lock.json" ||
    [ ! -e "$modules/installed" ]; then
    rm -rf "$modules" && mkdir -p "$modules" && cp "$ROOT"/tests/page/npm/package*.json "$modules"
    if (cd "$modules" && timeout 90 npm ci --ignore-scripts --no-audit --no-fund) >npm.log 2>&1; then
        touch "$modules/installed"
    else
        skip "a browser shows the pages" "npm ci: $(tail -n 1 npm.log)"
        exit 0
    fi
fi

. "$ROOT/tests/page/page.bash"
make_runs
STAGGER_TRIAL='allreduce@cg.c:83=mpich|handoff|srm' STAGGER_TRIAL_BLOCK=6 STAGGER_DIR=$WORK/cg \
    "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" -n 2 "$PROGRAMS/cg" >cg.out 2>&1 ||
    { echo "not ok - the program whose page is looked at runs"; cat cg.out; exit 1; }
STAGGER_RULES='*=bcs(slice=500,strobe=always,microphases=separate)' STAGGER_RANKS_PER_NODE=1 STAGGER_EMDS=on \
    STAGGER_DIR=$WORK/slices "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" -n 2 "$PROGRAMS/cg" -n 12 -t 2 -s 1 -w 5 >slices.out 2>&1 ||
    { echo "not ok - the program with slices runs"; cat slices.out; exit 1; }
for page_kind in known large a statistics all-calls waits late many-late cg slices; do
    report_page "$page_kind-report" "$page_kind"
done
check "the page of a program with a trial shows the trial" has cg-report.html 'allreduce@cg.c:83'
"$STAGGER" compare --html pair.html a b || exit 1
points history 100 101 99 100 102 98 115 116 114 115 116 99 && "$STAGGER" compare --history history >/dev/null || exit 1

shots=
in_full && shots=$BUILD/screenshots && mkdir -p "$shots"
HOME=$WORK NODE_PATH=$modules/node_modules node "$ROOT/tests/page/browser.js" "$chromium" \
    "$shots" known=known-report.html=report=accessible large=large-report.html=report \
    markup=a-report.html=report cg=cg-report.html=report=accessible \
    statistics=statistics-report.html=plain calls=all-calls-report.html=plain=accessible waits=waits-report.html=waits=accessible late=late-report.html=why=accessible \
    many-late=many-late-report.html=why slices=slices-report.html=slices=accessible pair=pair.html=comparison=accessible history=history/index.html=history=accessible || failures=1
