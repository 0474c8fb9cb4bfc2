#!/bin/bash
# timeout: 14400
# MPICH's own tests, of Debian's source, pass under the library wherever they pass without: by default, without a trace,
# between virtual nodes, and with every routed collective and message in slices. The table of counts is in
# build/suites/mpich/results.
. "$(dirname "$0")/../lib/sh.sh"
tree=$BUILD/suites/mpich
FOLDERS=(attr coll comm datatype errhan errors group info init io mpi_t part pt2pt rma spawn threads topo)

# built: the tests, made once. Fails, with the reason in the file `why`.
built() {
    local folder program
    [ ! -e "$tree/built" ] || return 0
    mkdir -p "$tree/bin"
    for program in mpicc mpiexec; do
        ln -sf "$(command -v "$("$ROOT/.ci/find-mpi" "${program#mpi}")")" "$tree/bin/$program" || { echo "no $program" >why; return 1; }
    done
    {
        "$ROOT/tests/lib/debian_source" mpich "$tree" && cd "$tree" &&
            source/test/mpi/configure --with-mpi="$tree" --disable-fortran --disable-cxx --disable-perftest --enable-threads=multiple &&
            make -j"${JOBS:-2}" &&
            for folder in "${FOLDERS[@]}"; do make -k -j"${JOBS:-2}" -C "$folder" || true; done &&
            touch built
    } </dev/null >"$tree.log" 2>&1 || { tail -n 1 "$tree.log" >why; return 1; }
}

# under_library: what the configuration's settings are in the environment of. An archive is not kept.
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

if ! (cd "$WORK" && built); then
    skip "MPICH's own tests" "they cannot be had: $(cat why)"
    exit 0
fi
# Verdicts of stock MPICH hold for all configurations of one run of this script.
rm -f "$tree/stock" "$tree/results"
while IFS='|' read -r what settings; do
    for folder in ${SUITE_FOLDERS:-${FOLDERS[@]}}; do
        # shellcheck disable=SC2086 # settings are words
        check "MPICH's own tests of $folder pass under the library if they pass without ($what)" \
            env $settings "$PYTHON" "$ROOT/tests/suites/suite.py" "$tree" "$tree/stock" "$folder" "$WORK/launcher"
        sed "s/^/$what: /" "$WORK/.check" >>"$tree/results"
    done
done <<'END'
by default|
without a trace|STAGGER_TRACE=off
a node for each rank|STAGGER_RANKS_PER_NODE=1
in slices|STAGGER_RANKS_PER_NODE=1 STAGGER_RULES=*=bcs;p2p=bcs
END
