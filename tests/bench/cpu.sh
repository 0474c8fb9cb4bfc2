#!/bin/bash
# stagger-bench cpu: prints the requested rows for the requested algorithms in valid JSON, finds
# wrong results and refuses bad usage. Asserts no figure.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/bench/bench.bash"
command=cpu
quick=(--iterations 1 --time 0.05)

rows() {
    json "$1.out" '" ".join("%s:%s:%d:%g" % (r["op"], r["algorithm"], r["elements"], r["skew_us"])
        for r in d["results"])'
}

# Every figure is within its range. Processor times are differences and may be 0.
sound() {
    json "$1.out" '(all(r[k + "low_us"] <= r[k + "us"] <= r[k + "high_us"] and r[k + "low_us"] >= 0
        for r in d["results"] for k in ("cpu_", "mpich_cpu_", "tree_cpu_") if r[k + "us"] is not None)
        and all(r["calls"] > 0 and r["ranks"] == d["ranks"] for r in d["results"])
        and all(r["factor"] is None if r["cpu_us"] == 0 else
            abs(r["factor"] * r["cpu_us"] - r["mpich_cpu_us"]) <= 1e-6 * r["mpich_cpu_us"]
            for r in d["results"]))'
}

# ---- rows ------------------------------------------------------------------------------------------
STAGGER_TRACE=otf2 STAGGER_RULES='reduce=bypass(linger=5)' nodes all 3 --json "${quick[@]}" \
    --elements 4,32 --skew-us 0,300 --root 1 --algorithms rules,tree,bypass
check "a run under the library ends well and prints no message" all 'is 0 "$status"' 'says_nothing all.err'
check "its rows are the requested ones, in the requested order" is "$(for elements in 4 32; do
    for skew in 0 300; do
        echo "reduce:rules:$elements:$skew reduce:tree:$elements:$skew reduce:bypass:$elements:$skew"
    done
done | paste -sd ' ')" "$(rows all)"
check "its figures are plausible" is True "$(sound all)"
check "rows have the documented fields" is "" \
    "$(json all.out '" ".join(sorted(set("op algorithm progress ranks skew_us elements cpu_us "
        "mpich_cpu_us tree_cpu_us factor".split()) - set(d["results"][0])))')"
check "the head says what was measured" is "1 cpu 3 process 1 True libstagger.so" \
    "$(json all.out '" ".join(str(d[k]) for k in ("version", "command", "ranks", "clock", "root", "intercepted", "ours"))')"
check "every row has a time for the tree" is True \
    "$(json all.out 'all(r["tree_cpu_us"] is not None for r in d["results"])')"
check "each algorithm ran on the communicator of its name" \
    is "reduce:bypass:bypass reduce:tree:tree" "$(ran all.trace)"

STAGGER_RULES='*=mpich' nodes rules 2 --json "${quick[@]}" --elements 1 --skew-us 100
check "users' rules do not affect the tree, and by default only the rules are shown" \
    all 'is 0 "$status"' 'says_nothing rules.err' 'is "reduce:rules:1:100" "$(rows rules)"' \
    'is True "$(json rules.out "d[\"results\"][0][\"tree_cpu_us\"] is not None")"'

nodes defaults 2 --json "${quick[@]}"
check "the defaults are 4, 32 and 128 elements and 1000 us" \
    is "reduce:rules:4:1000 reduce:rules:32:1000 reduce:rules:128:1000" "$(rows defaults)"

observe node 2 "$BENCH" cpu --json "${quick[@]}" --elements 4 --ops reduce,allreduce
check "inside a node there is no tree, and late ranks do the work themselves" all 'is 0 "$status"' \
    'is "reduce:rules:4:1000 allreduce:rules:4:1000" "$(rows node)"' \
    'is "handoff None handoff None" "$(json node.out "\" \".join(\"%s %s\" % (r[\"progress\"], r[\"tree_cpu_us\"]) for r in d[\"results\"])")"'

STAGGER_RANKS_PER_NODE=1 STAGGER_PROGRESS=poll observe progress 4 "$BENCH" cpu --json "${quick[@]}" \
    --elements 4 --algorithms bypass
check "rows name the progress mode, and without progress no run hangs" all 'is 0 "$status"' \
    'is poll "$(json progress.out "d[\"results\"][0][\"progress\"]")"'

nodes text 2 "${quick[@]}" --elements 4 --algorithms bypass
check "the table has one line for each row" all 'is 0 "$status"' \
    'has text.out "^processor time of a call, .*; progress: [a-z]+$"' \
    'has_lines text.out "^reduce +bypass +4 +1000 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +([0-9.]+|-) +([0-9.]+|-) to ([0-9.]+|-) +[0-9]+$ROW_END" 1'

# ---- without a library, and wrong results -------------------------------------------------------------
plainly alone 2 cpu --json "${quick[@]}" --elements 4 --skew-us 100
check "without the library one line says so, and the measurement goes on" all 'is 0 "$status"' \
    'has_lines alone.err "" 1' 'has alone.err "^stagger: bench: no library is preloaded: .*mpi"' \
    'is "False None" "$(json alone.out "\"%s %s\" % (d[\"intercepted\"], d[\"results\"][0][\"progress\"])")"' \
    'is True "$(sound alone)"'

build_wrong_library
finds MPI_Reduce "MPI_Reduce of 32 bytes by rules" --elements 4
finds untouched "MPI_Reduce of 32 bytes by rules" --elements 4
finds PMPI_Allreduce "PMPI_Allreduce of 32 bytes by mpich" --elements 4 --ops allreduce
other=

# ---- usage ------------------------------------------------------------------------------------------
refuses "--elements wants numbers from 1 to [0-9]+, not '0'" --elements 4,0
refuses "--skew-us wants numbers from 0 to 1000000, not '-1'" --skew-us -1
refuses "--algorithms wants some of rules, .*tree.*, not 'mpich'" --algorithms mpich
refuses "--algorithms: adaptive runs none of these operations" --algorithms rules,adaptive
refuses "--bytes is not an option of cpu" --bytes 8
refuses "--late-us is not an option of cpu" --late-us 5
refuses "--root wants a rank from 0 to 1, not '2'" --root 2
refuses "--algorithms: tree runs between nodes: preload libstagger.so" --algorithms tree

STAGGER_RANKS_PER_NODE=2 observe one_node 2 "$BENCH" cpu --algorithms bypass
check "all ranks on one node can run under the library, too" all 'is 2 "$status"' \
    'has_lines one_node.err "^stagger: bench: --algorithms: bypass runs between nodes: .*below 2$" 1'
