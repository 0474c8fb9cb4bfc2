# External test suites, sourced after sh.sh. Builds a suite once, in BUILD/suites/NAME; it must pass
# under the library wherever it passes without.
# shellcheck shell=bash

# built NAME PACKAGE MAKE: builds the suite with the function MAKE, which runs in $tree, from
# Debian's source of PACKAGE or from the directory PACKAGE. Fails, with the reason in the file
# `why`.
built() {
    local program
    tree=$BUILD/suites/$1
    [ ! -e "$tree/built" ] || return 0
    mkdir -p "$tree/bin"
    for program in cc exec; do
        ln -sf "$(command -v "$("$ROOT/.ci/find-mpi" "$program")")" "$tree/bin/mpi$program" ||
            { echo "no mpi$program" >why; return 1; }
    done
    {
        if [ -d "$2" ]; then
            rm -rf "$tree/source" && cp -r "$2" "$tree/source"
        else
            "$ROOT/tests/lib/debian_source" "$2" "$tree"
        fi && (cd "$tree" && PATH=$tree/bin:$PATH "$3") && touch "$tree/built"
    } </dev/null >"$tree.log" 2>&1 || { tail -n 1 "$tree.log" >why; return 1; }
}

# suite WHOSE NAME PACKAGE MAKE WORDS FOLDER...: runs the tests of the folders' lists (suite.py): by
# default, without a trace, between virtual nodes, and with every routed collective and message in
# slices. The table of counts is in $tree/results. SUITE_FOLDERS: only these folders. JOBS: tests at
# a time.
suite() {
    local whose=$1 words=$5 what settings folder
    built "$2" "$3" "$4" || { skip "$whose" "they cannot be had: $(cat why)"; return; }
    shift 5
    # The environment holds the configuration's settings. The archive is deleted.
    cat >launcher <<END
#!/bin/bash
output=\$(mktemp -d "$WORK/run.XXXXXX")
"$STAGGER" run -q -o "\$output/t" "$MPIEXEC" "\$@"
status=\$?
rm -rf "\$output"
exit \$status
END
    chmod +x launcher
    export MPIEXEC
    # Verdicts of stock MPICH apply to all configurations of one run.
    rm -f "$tree/stock" "$tree/results"
    while IFS='|' read -r what settings; do
        for folder in ${SUITE_FOLDERS:-"$@"}; do
            # shellcheck disable=SC2086 # settings are words
            check "$whose of $folder pass under the library if they pass without ($what)" \
                env $settings "$PYTHON" "$ROOT/tests/suites/suite.py" "$tree" "$tree/stock" "$words" "$folder" \
                "$WORK/launcher"
            sed "s/^/$what: /" "$WORK/.check" >>"$tree/results"
        done
    done <<'END'
by default|
without a trace|STAGGER_TRACE=off
a node for each rank|STAGGER_RANKS_PER_NODE=1
in slices|SLOW_TESTS=large_message|manylmt|huge_anysrc|probe_unexp STAGGER_RANKS_PER_NODE=1 STAGGER_RULES=*=bcs;p2p=bcs
END
}
