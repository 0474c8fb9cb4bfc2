#!/bin/bash
# The explorer finds errors: each patch in bugs/ changes one line of a protocol into an error, which
# it finds within 2000 seeds. A patch's first line names the protocol to explore, and says whether the
# walk of all orders finds the error, too; its second the error.
. "$(dirname "$0")/../lib/sh.sh"

SEEDS=2000
CC=${CC_FOR_BUGS:-gcc}
FLAGS=(-std=gnu11 -O1 -D_GNU_SOURCE -DSG_VERSION='"test"' -DSG_COMMIT='"test"' -Ishim -Ianalysis -Itests -MMD -MT object)

mkdir tests && cp -r "$ROOT/shim" "$ROOT/analysis" . && cp -r "$ROOT/tests/verify" tests || exit 1
cp "$ROOT/tests/sim/explorer.c" . || exit 1
mkdir objects

# compile FILE...: into objects/, named by path
compile() {
    local file
    for file in "$@"; do
        $CC "${FLAGS[@]}" -c "$file" -o "objects/${file//\//.}.o" || return 1
    done
}
link() { $CC objects/*.o -o explorer; }

mapfile -t all < <(find shim/algos shim/bcs -name '*.c' ! -path '*/kernels/*' ! -path '*/live/*' | sort)
all_but_protocols=(shim/core/{status,text}.c explorer.c analysis/options/options.c
    analysis/output/{commit,progress_line}.c tests/verify/*.c analysis/sim/sim_host.c)

build() { compile "${all[@]}" "${all_but_protocols[@]}" && link; }
check "the explorer builds" build || exit 1
cp -r objects sound

# Rebuilds the files that include FILE, or FILE itself.
rebuild() {
    local users
    mapfile -t users < <(sed -n 's/^object: \([^ ]*\).*/\1/p' $(grep -lF "$1" objects/*.d))
    compile "${users[@]}" && link
}

explore() { ./explorer --algo "$1" --seeds $SEEDS >"$2" 2>&1; }

sound() {
    explore "$1" "$2" && return
    tail -n 60 "$2"
    return 1
}
# Found, with the options that reproduce it.
found() {
    explore "$1" "$2" && { echo "not found"; return 1; }
    has "$2" '^violation: ' && has "$2" 'explore --algo .* --seeds 1 .*--only' && return
    return 1
}

# The walk of all orders among 2 and 3 processes finds it, equivalent orders left out.
walk_finds() {
    ./explorer --algo "$1" --exhaustive --nodes 2..3 --faults loss,repeat >walk.out 2>&1
    has walk.out '^violation: '
}

declare -A explored
for patch in "$ROOT"/tests/sim/bugs/*.patch; do
    name=$(basename "$patch" .patch)
    read -r _ algo walk <"$patch"
    file=$(sed -n 's|^+++ b/||p' "$patch")
    if [ -z "${explored[$algo]:-}" ]; then
        explored[$algo]=1
        check "$algo has no violation without a planted fault" sound "$algo" "$algo.out"
    fi
    check "$name applies" patch -p1 --fuzz=0 --silent -i "$patch" || continue
    check "$name builds" rebuild "$file" &&
        check "$name is found within $SEEDS seeds" found "$algo" "$name.out" &&
        { [ -z "$walk" ] || check "the walk finds $name, too" walk_finds "$algo"; }
    patch -R -p1 --silent -i "$patch" && cp sound/* objects || exit 1
done
