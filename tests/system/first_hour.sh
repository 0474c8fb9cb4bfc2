#!/bin/bash
# long
# Adds an algorithm, a setting and a section of the report to a copy of the tree. Each takes effect, and
# touches the files that CONTRIBUTING.md lists for it, three at most.
. "$(dirname "$0")/../lib/sh.sh"
tree=$WORK/tree
mkdir tree
(cd "$ROOT" && git ls-files -z | xargs -0 cp -a --parents -t "$tree") || exit 1
# Objects that are up to date save most of the time.
mkdir "$tree/build"
(cd "$BUILD" && find shim analysis tests/verify -name '*.[do]' -print0 | xargs -0 cp -a --parents -t "$tree/build")
cd "$tree" || exit 1
git init -q . && git add -A && git -c user.name=x -c user.email=x commit -qm tree

# Most sources include a changed file: optimisation and debug information would take most of the time.
fast() { make -s -j"$(nproc)" DEBUG=1 CFLAGS=-g0 B=build "$@"; }

# listed HEADING: the files under a heading of CONTRIBUTING.md
listed() { sed -n "/^### $1/,/^###* /s/^- \`\([^\`]*\)\`.*/\1/p" "$ROOT/CONTRIBUTING.md" | sort; }

# touches HEADING [NAME]: the changes since the last commit, which it commits, are in the files listed
touches() {
    local files
    files=$(listed "$1")
    git add -A
    is "${files/NAME/${2:-}}" "$(git diff --cached --name-only | sort)" &&
        within 1 3 "$(wc -l <<<"$files")" &&
        git -c user.name=x -c user.email=x commit -qm "$1"
}

# ---- an algorithm: pairwise under another name --------------------------------------------------

sed -E 's/(sg_algo_|")pairwise/\1second/' shim/algos/baselines/pairwise.c >shim/algos/baselines/second.c
sed -i '/^ *"learns which algorithm costs least/s/")$/") ROW(SECOND, second, PROTOCOL, ALLREDUCE, BETWEEN, pairwise, "doubling again")/' \
    shim/algos/parameters.h
sed -i '/^\.B pairwise$/{
i .B second
i allreduce. Doubling again.
i .TP
}' docs/libstagger.7
check "a new algorithm changes three files" touches "An algorithm" second

# ---- a setting -----------------------------------------------------------------------------------------

sed -i '/^struct sg_config {/a\    int loudness; /* of the messages */' shim/core/waiting.h
sed -i '/^    {"STAGGER_QUIET"/i\    {"STAGGER_LOUDNESS", "3", "Loudness of the messages.", NULL, INTEGER(loudness, 1, 11)},' \
    shim/core/waiting.c
fast manual >"$WORK/manual" 2>&1
check "a new setting changes three files" touches "A setting" || cat "$WORK/manual"

# ---- a section: the medians of call sites --------------------------------------------------------------

cat >analysis/report/medians.c <<'END'
/* The medians of call sites. */
#include "report/report_columns.h"
#include "report/report_section.h"

static struct sg_rows rows_of(const struct sg_report *report, const struct sg_print_options *options)
{
    return SG_ROWS(report->sums, report->sum_count, report);
}

const struct sg_report_section sg_medians_section = {
    .part = SG_PART_COLLECTIVES,
    .rows = rows_of,
    .is_member = true,
    .table = {.member = "medians",
              .json = {&sg_site_columns},
              .fields = "op skew_ns.p50",
              .text = {&sg_site_columns},
              .shown = "p50 op"}};
END
sed -i 's/^    SECTION(slices)$/    SECTION(slices) SECTION(medians)/' analysis/report/report_section.h
sed -i '0,/"properties": {/s//&\n  "medians": {"type": "array", "description": "the medians of call sites"},/' docs/schema/report.json
check "a new section changes three files" touches "A section of the report" medians
check "the tree with all three changes builds" fast build/stagger build/libstagger{,-otf2}.so || exit 1

# ---- they take effect ----------------------------------------------------------------------------------

STAGGER=$tree/build/stagger LIB=$tree/build/libstagger.so
agrees() { "$PYTHON" tests/cli/manuals.py algorithms "$STAGGER" build/stagger-bench docs; }
check "the manual page agrees with the algorithms" agrees
check "stagger info lists the setting" has <("$STAGGER" info) 'STAGGER_LOUDNESS.*3'
check "a value out of its range is refused" has <(STAGGER_LOUDNESS=12 "$STAGGER" info 2>&1) 'STAGGER_LOUDNESS.*1 to 11'
check "the simulator runs the algorithm" has <("$STAGGER" sim delay --op=allreduce --algo=second --nodes=8 2>&1) second
ran() {
    STAGGER_DIR=$WORK/out STAGGER_RANKS_PER_NODE=1 STAGGER_ALLREDUCE=second LD_PRELOAD=$LIB \
        plain 2 "$PROGRAMS/counts_c" && has <("$STAGGER" report --json "$WORK/out") '"second"'
}
check "ranks run the algorithm, and the report names it" ran
check "the report has the section" all 'has <("$STAGGER" report --all "$WORK/out") "^ *skew50 +op"' \
    'has <("$STAGGER" report --json "$WORK/out") "\"medians\":"'
