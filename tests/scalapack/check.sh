#!/bin/bash
# long
# timeout: 3600
# Ten of ScaLAPACK's test programs at 2 ranks pass the same tests with the library as without: in a
# node, under the default rules or one algorithm, and each rank a node of its own, with the protocols
# between nodes in one mode of progress, in turn. check_full.sh runs all programs.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/scalapack/scalapack.bash"

need_scalapack "ScaLAPACK's programs pass the same tests as without the library"
for name in $SCALAPACK_TEN; do
    without=$(stock "$name")
    in_turn default '*=srm' '*=handoff'
    for rules in "${turn[@]}"; do
        STAGGER_RULES=${rules#default} passes_too "$name" "$without" "rules $rules"
    done
    in_turn poll thread signal
    for mode in "${turn[@]}"; do
        STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='*=adaptive;*=bypass' STAGGER_PROGRESS=$mode \
            passes_too "$name" "$without" "between nodes, $mode"
    done
    case $name in xdlu | xdinv)
        # The shortest slice, so that a program with many calls finishes.
        STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='*=bcs(slice=100)' passes_too "$name" "$without" "in slices"
        ;;
    esac
    check "$name passes at least one test" has <(echo "$without") ' [1-9][0-9]* passed,'
done
