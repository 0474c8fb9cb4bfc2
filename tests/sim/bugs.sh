#!/bin/bash
# The explorer finds errors: each patch in bugs/ changes one line of a protocol into an error, which
# it finds within 2000 seeds. A patch's first line names the protocol to explore, its second the
# error.
. "$(dirname "$0")/../lib/sh.sh"

SEEDS=2000
CC=${CC_FOR_BUGS:-gcc}
FLAGS=(-std=gnu11 -O1 -D_GNU_SOURCE -DSG_VERSION='"test"' -DSG_COMMIT='"test"' -Ishim -Ianalysis -Itests)

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

# Rebuilds the files that a patch changes, or all protocols if it changes a header.
rebuild() {
    case $1 in
    *.c) compile "$1" ;;
    *) compile "${all[@]}" ;;
    esac && link
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

# Exploring every order gives the same verdict with and without the reduction of equivalent orders.
walk() { ./explorer --algo "$1" --exhaustive --nodes "$2" --faults loss,repeat "${@:3}" >walk.out 2>&1; }
same_verdict() {
    local nodes=2..3 reduced=0 unreduced=0
    [ "$1" = handoff ] && nodes=2
    walk "$1" $nodes || reduced=$?
    walk "$1" $nodes --unreduced || unreduced=$?
    is "$unreduced" "$reduced"
}

declare -A explored
for patch in "$ROOT"/tests/sim/bugs/*.patch; do
    name=$(basename "$patch" .patch)
    algo=$(sed -n '1s/^algo: //p' "$patch")
    file=$(sed -n 's|^+++ b/||p' "$patch")
    if [ -z "${explored[$algo]:-}" ]; then
        explored[$algo]=1
        check "$algo has no violation without a planted fault" sound "$algo" "$algo.out"
    fi
    check "$name applies" patch -p1 --fuzz=0 --silent -i "$patch" || continue
    check "$name builds" rebuild "$file" &&
        check "$name is found within $SEEDS seeds" found "$algo" "$name.out" &&
        check "both walks find $name, or neither does" same_verdict "$algo"
    patch -R -p1 --silent -i "$patch" && rebuild "$file" || exit 1
done
