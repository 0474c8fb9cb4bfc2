# Shared by the scripts of tests/fresh, sourced after sh.sh: runs the committed tree in a system
# with only git, make and gcc, where it must install all of its dependencies itself.
# shellcheck shell=bash
. "$ROOT/tests/lib/root.bash"

# in_tree SECONDS TARGET: runs make TARGET; output is in TARGET.out
in_tree() { inside "$1" make -C /root/stagger "$2" >"$2.out" 2>&1; }
built() { tail -n 40 "$1.out"; }

# fresh SUITE NAME: sets up the tree in an empty SUITE; messages call it NAME
fresh() {
    local suite=$1 name=$2 title reason
    title="the tree in an empty $name"
    reason=$(no_system git) && { skip "$title" "$reason"; return; }
    git -C "$ROOT" rev-parse --verify --quiet HEAD >/dev/null ||
        { skip "$title" "git knows nothing of this tree"; return; }
    make_system "$suite" minbase git,make,gcc,ca-certificates >reason ||
        { skip "$title" "mmdebstrap makes no $suite: $(cat reason)"; return; }
    check "the tree is cloned into an empty $name" \
        git clone --quiet --no-hardlinks "$ROOT" "$system/root/stagger" || return

    in_tree 1200 demo
    check "make demo completes in the tree" all "is 0 $?" 'has demo.out "^==== The archives"' ||
        built demo
    check "make demo installed nothing for the tests, and built none" all \
        'lacks "$system/var/lib/dpkg/status" "^Package: (clang|valgrind|libcunit1-dev|python3-otf2)$"' \
        'is cg "$(ls "$system/root/stagger/build/mpi")"' \
        'is verify "$(ls "$system/root/stagger/build/tests")"' # the explorer belongs to stagger
    if ! in_full; then
        in_tree 1800 check-build
        check "the packages and programs for make check are installed and built there" is 0 $? || built check-build
        return
    fi
    in_tree 5400 check
    check "make check passes in the tree" all "is 0 $?" 'has check.out "^[0-9]+ passed, 0 failed, [0-9]+ skipped$"' ||
        grep -A 40 'not ok - ' check.out
    grep '^ *skip - ' check.out | sed "s/^ *skip - /# skipped in $name: /"
}
