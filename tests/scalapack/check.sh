#!/bin/bash
# long
# timeout: 3600
# Ten of ScaLAPACK's test programs at 2 ranks pass the same tests with the library as without: under
# the default rules or one algorithm, or each rank a node of its own, with the protocols between
# nodes in one mode of progress, in turn. check_full.sh runs all programs.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/scalapack/scalapack.bash"

need_scalapack "ScaLAPACK's programs pass the same tests as without the library"
for name in $SCALAPACK_TEN; do
    without=$(stock "$name")
    check "$name passes at least one test" has <(echo "$without") ' [1-9][0-9]* passed,'
    in_turn default '*=srm' '*=handoff' poll thread signal
    for how in "${turn[@]}"; do
        case $how in
        default | *=*) STAGGER_RULES=${how#default} passes_too "$name" "$without" "rules $how" ;;
        *)
            STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='*=adaptive;*=bypass' STAGGER_PROGRESS=$how \
                passes_too "$name" "$without" "between nodes, $how"
            ;;
        esac
    done
    case $name in xdlu | xdinv)
        # The shortest slice, so that a program with many calls finishes.
        STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='*=bcs(slice=100)' passes_too "$name" "$without" "in slices"
        ;;
    esac
done
