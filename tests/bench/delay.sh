#!/bin/bash
# stagger-bench delay: prints the requested rows for the requested algorithms in valid JSON, finds
# wrong results and refuses bad usage. Asserts no figure.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/bench/bench.bash"
command=delay
quick=(--iterations 2 --time 0.05)

rows() {
    json "$1.out" '" ".join("%s:%s:%d:%g" % (r["op"], r["algorithm"], r["elements"], r["late_us"])
        for r in d["results"])'
}

# Every figure present is within its range. A call in which the late rank did not arrive last, which
# the machine may cause, has none.
sound() {
    json "$1.out" 'all(r["calls"] <= r["rounds"] == 2 and r["ranks"] == d["ranks"] and (
        r["delay_us"] is None if r["calls"] == 0 else
        0 < r["delay_low_us"] <= r["delay_us"] <= r["delay_high_us"]) for r in d["results"])'
}

# ---- rows ------------------------------------------------------------------------------------------
STAGGER_TRACE=otf2 nodes all 3 --json "${quick[@]}"
check "a run under the library ends well and prints no message" all 'is 0 "$status"' 'says_nothing all.err'
check "the default algorithms are the rules in force, tree, one without late ranks, and MPICH" \
    is "$(echo barrier:{rules,tree,dissemination,mpich}:0:1000 \
        allreduce:{rules,tree,pairwise,mpich}:128:1000)" "$(rows all)"
check "its figures are plausible" is True "$(sound all)"
check "rows have the documented fields" is "" \
    "$(json all.out '" ".join(sorted(set("op algorithm ranks late_us delay_us".split())
        - set(d["results"][0])))')"
check "the head says what was measured" is "1 delay 3 2 True libstagger.so" \
    "$(json all.out '" ".join(str(d[k]) for k in ("version", "command", "ranks", "late_rank", "intercepted", "ours"))')"
check "each algorithm ran on the communicator of its name" \
    is "allreduce:pairwise:pairwise allreduce:tree:tree" "$(ran all.trace)"

nodes chosen 2 --json "${quick[@]}" --ops allreduce --elements 1,16 --late-us 0,50 --late 0 \
    --algorithms adaptive
check "options choose the operation, elements, lateness, late rank and algorithm" all 'is 0 "$status"' \
    'is "$(echo allreduce:{adaptive,mpich}:1:{0,50} allreduce:{adaptive,mpich}:16:{0,50} |
        tr " " "\n" | sort)" "$(rows chosen | tr " " "\n" | sort)"' \
    'is 0 "$(json chosen.out "d[\"late_rank\"]")"' 'is True "$(sound chosen)"'

nodes text 2 "${quick[@]}" --ops barrier --algorithms tree
check "the table has one line for each row" all 'is 0 "$status"' \
    'has text.out "^from the last entry to the last exit, when rank 1 is late$"' \
    'has_lines text.out "^barrier +(tree|mpich) +0 +1000 +[0-9.]+ +([0-9.]+|-) +([0-9.]+ to [0-9.]+|-) +[0-2] of 2$ROW_END" 2'

observe node 2 "$BENCH" delay --json "${quick[@]}" --ops barrier
check "inside a node only the rules in force and MPICH are measured" all 'is 0 "$status"' \
    'is "barrier:rules:0:1000 barrier:mpich:0:1000" "$(rows node)"'

# ---- without a library, and wrong results -------------------------------------------------------------
plainly alone 2 delay --json "${quick[@]}" --late-us 100
check "without the library one line says so, and the measurement goes on" all 'is 0 "$status"' \
    'has_lines alone.err "" 1' 'has alone.err "^stagger: bench: no library is preloaded: .*mpi"' \
    'is True "$(sound alone)"'

build_wrong_library
finds MPI_Barrier "MPI_Barrier of 0 bytes by rules" --ops barrier
finds MPI_Allreduce "MPI_Allreduce of 1024 bytes by rules" --ops allreduce
finds PMPI_Allreduce "PMPI_Allreduce of 8 bytes by mpich" --ops allreduce --elements 1
other=

# ---- usage ------------------------------------------------------------------------------------------
refuses "delay measures only operations in which all ranks wait: not reduce" --ops reduce
refuses "--late-us wants numbers from 0 to 1000000, not 'soon'" --late-us soon
refuses "--late wants a rank from 0 to 1, not '2'" --late 2
refuses "--algorithms: bypass runs none of these operations" --algorithms bypass
refuses "--algorithms names 'tree' twice" --algorithms tree,tree
refuses "--skew-us is not an option of delay" --skew-us 5
refuses "--root is not an option of delay" --root 1
refuses "--algorithms: dissemination runs between nodes" --algorithms dissemination
