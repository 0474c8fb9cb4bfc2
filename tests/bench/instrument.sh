#!/bin/bash
# stagger-bench's schemes, arrival patterns and other commands: rows in valid JSON and CSV, plots,
# wrong results found while measuring. Asserts no figure.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/bench/bench.bash"
quick=(--time 0.05 --iterations 2)

# under NAME N COMMAND OPTION...: under the library
under() { observe "$1" "$2" "$BENCH" "${@:3}"; }

# fields NAME EXPRESSION: the expression of each row, joined
fields() { json "$1.out" '" ".join(str('"$2"') for r in d["results"])'; }

# ---- latency by schemes and arrivals -------------------------------------------------------------------
# test_pattern.c has all patterns.
printf '# three ranks\n0 2000 0\n1000 0 0\n' >arrivals.txt
for way in 'window trace:arrivals.txt' 'barrier some:1' 'dissemination uniform'; do
    read -r scheme pattern <<<"$way"
    under "$scheme" 3 latency --json "${quick[@]}" --ops allreduce,reduce --bytes 8,1k --scheme "$scheme" \
        --arrival "$pattern" --skew-us 700
    check "latency by $scheme has a labelled row for each operation and size" all 'is 0 "$status"' \
        'says_nothing $scheme.err' \
        'is "$(echo {allreduce,reduce}:{8,1024}:$scheme)" "$(fields $scheme "\"%s:%d:%s\" % (r[\"op\"], r[\"bytes\"], r[\"scheme\"])")"'
    check "... figures are where they should be" is True "$(json "$scheme.out" 'all(
        r["time_min_us"] <= r["time_low_us"] <= r["time_us"] <= r["time_high_us"] <= r["time_max_us"]
        and r["min_us"] <= r["mean_us"] <= r["max_us"] <= r["span_us"] + 2 * r["clock_bound_us"] + 1e-3
        and r["ratio_low"] <= r["ratio"] <= r["ratio_high"] and r["time_count"] == 2
        for r in d["results"])')"
    check "ranks arrive by the pattern $pattern, and the achieved skew is reported" all \
        'is "{\"${pattern%:*}\"}" "$(json $scheme.out "{r[\"arrival\"] for r in d[\"results\"]}" | tr "\047" "\042")"' \
        'is True "$(json $scheme.out "all(r[\"achieved_skew_us\"] >= 0 for r in d[\"results\"])")"'
done
check "only the scheme window has windows" all \
    'is True "$(json window.out "all(r[\"window_us\"] > 0 for r in d[\"results\"])")"' \
    'is True "$(json barrier.out "all(r[\"window_us\"] == 0 for r in d[\"results\"])")"'
check "the head says where it ran, its build and the clocks' accuracy" is "True True 1 1" \
    "$(json window.out '" ".join(str(x) for x in (len(d["environment"]["commit"]) > 3,
        "stagger-bench/" in d["environment"]["STAGGER_RULES"], d["environment"]["seed"], d["clocks"]["clocks"]))')"

under delay 2 delay --json --plot delay.svg "${quick[@]}" --ops barrier --arrival linear --late-us 0,300
check "delay accepts patterns, too" all 'is 0 "$status"' \
    'is "$(echo 0:{rules,mpich} 300:{rules,mpich})" "$(fields delay "\"%g:%s\" % (r[\"late_us\"], r[\"algorithm\"])")"'
under cpu 2 cpu --json --plot cpu.svg "${quick[@]}" --elements 4 --busy --arrival one --late 0
check "late ranks may compute instead of waiting" all 'is 0 "$status"' 'is "work one" "$(fields cpu "r[\"skewed_by\"] + \" \" + r[\"arrival\"]")"'
plainly missing 2 latency --arrival trace:/nowhere/at.all
check "a missing file of arrivals is bad usage" all 'is 2 "$status"' \
    'has_lines missing.err "^stagger: bench: /nowhere/at.all: No such file" 1'

# ---- references, samples -------------------------------------------------------------------------------
STAGGER_RANKS_PER_NODE=1 under vs 2 latency --json "${quick[@]}" --ops barrier --algorithms rules,adaptive \
    --vs tree --samples
check "any algorithm can be the comparison" all 'is 0 "$status"' \
    'is "rules:tree adaptive:tree mpich:tree" "$(fields vs "r[\"algorithm\"] + \":\" + r[\"vs\"]")"'
STAGGER_TRACE=otf2 under given 2 latency --json "${quick[@]}" --ops barrier,allreduce --vs 'barrier=mpich; *=handoff'
check "rules as text can be the comparison" all 'is 0 "$status"' 'says_nothing given.err' \
    'is "$(echo {barrier,allreduce}:{rules,mpich})" "$(fields given "r[\"op\"] + \":\" + r[\"algorithm\"]")"' \
    'is "barrier=mpich; *=handoff" "$(json given.out "\" \".join({r[\"vs\"] for r in d[\"results\"]})")"'
check "... these rules hold on a communicator of their own" all 'report_json given.trace given.json' \
    'is "allreduce:handoff barrier:mpich" "$(json given.json "\" \".join(sorted({s[\"op\"] + \":\" +
        s[\"algorithm\"].split(\"+\")[-1] for s in d[\"sites\"] if s[\"comm\"] == \"stagger-bench/vs\"}))")"'
plainly bare 2 latency --ops barrier --vs '*=handoff'
check "rules need the library" all 'is 2 "$status"' 'has_lines bare.err "^stagger: bench: --vs: rules need libstagger.so preloaded" 1'
under near 2 latency --ops barrier --vs tree
check "comparison with an algorithm between nodes needs several nodes" all 'is 2 "$status"' \
    'has_lines near.err "^stagger: bench: --vs: tree runs between nodes" 1'
under bad 2 latency --ops barrier --vs 'barrier=bypass'
check "an invalid rule is reported in one line" all 'is 2 "$status"' 'has_lines bad.err "" 1' 'has bad.err "bench: --vs, column 9"'
check "every reduction keeps samples" is True "$(json vs.out 'all(
    len(r[k + "samples_us"]) == 2 for r in d["results"]
    for k in ("", "vs_", "root_", "max_", "span_", "mean_", "min_"))')"

# ---- the other commands --------------------------------------------------------------------------------
# On one rank: ranks without a processor each compute for as long as they wait for one, again and again.
under overlap 1 overlap --json --plot overlap.svg "${quick[@]}" --ops allreduce,barrier --bytes 1k --test-bytes 0,256
check "overlap has a row for each algorithm and interval of tests" all 'is 0 "$status"' \
    'is "$(echo allreduce:{rules,mpich}:{0:0,256:5} barrier:{rules,mpich}:{0:0,256:1})" \
        "$(fields overlap "\"%s:%s:%d:%d\" % (r[\"op\"], r[\"algorithm\"], r[\"test_bytes\"], r[\"tests\"])")"'
check "... every formula is named" is True "$(json overlap.out 'all(0 <= r[k] <= 1
    for r in d["results"] for k in ("overlap_osu", "overlap_imb")) and all(r["overlap"] <= 1 and
    ("asynchronous_progress" in r) == (r["tests"] == 0) and "overlap_work" in r for r in d["results"])')"
plainly clock 4 clock --json --each --time 0.6 --plot clock.svg
check "clock shows cost, round trips, drifts and an audit" all 'is 0 "$status"' \
    'is "tree:2 linear:3" "$(json clock.out "\" \".join(\"%s:%d\" % (r[\"scheme\"], r[\"rounds\"]) for r in d[\"results\"] if r[\"kind\"] == \"synchronisation\")")"' \
    'is 3 "$(json clock.out "sum(r[\"kind\"] == \"round trip\" for r in d[\"results\"])")"' \
    'is True "$(json clock.out "sum(r[\"kind\"] == \"drift\" for r in d[\"results\"]) >= 8")"'
check "ranks on one clock differ by no more than the bounds" is "True True True" \
    "$(json clock.out '" ".join(str(r["within"]) for r in d["results"] if r["kind"] == "audit")')"
plainly noise 2 noise --json --time 0.05 --plot noise.svg
check "noise has a row for each rank" all 'is 0 "$status"' 'is "0 1" "$(fields noise "r[\"rank\"]")"' \
    'is True "$(json noise.out "all(0 <= r[\"lost\"] < 1 and r[\"quantum_count\"] == 50 for r in d[\"results\"])")"'
# ---- CSV and figures -----------------------------------------------------------------------------------
under latency 2 latency --csv --plot latency.svg "${quick[@]}" --bytes 8,64
check "CSV has the head, a line of names and one line for each row" all 'is 0 "$status"' \
    'has latency.out "^# environment.commit: ."' 'has_lines latency.out "^op,bytes,algorithm," 1' \
    'has_lines latency.out "^(barrier|allreduce|reduce),[0-9]+,rules," 5'
check "... all lines have the same number of fields" is 1 "$(grep -v '^#' latency.out | sed 's/"[^"]*"//g' | awk -F, '{ print NF }' | sort -u | wc -l)"
command -v gnuplot >/dev/null || skip "figures are drawn" "gnuplot is not installed"
for which in latency cpu delay overlap clock noise; do
    ! command -v gnuplot >/dev/null ||
        check "a figure of $which is drawn" all 'has $which.svg "</svg>"' 'has $which.svg "<path"'
done
# latency.sh, cpu.sh and delay.sh look at the tables of theirs.
for which in "overlap --iterations 2 --ops barrier" clock noise; do
    # shellcheck disable=SC2086 # words of options
    plainly text 1 $which --time 0.02
    check "${which%% *} prints a table" all 'is 0 "$status"' 'has text.out "^[ a-z0-9]+ .* [0-9.]+"'
done

# ---- wrong results ---------------------------------------------------------------------------------------
build_wrong_library
# The operation is still correct while the operands are verified, before the timed part.
WRONG=MPI_Allreduce WRONG_AFTER=3 plainly later 2 latency --json --ops allreduce
check "a result that becomes wrong later is found during the measurement" all 'is 1 "$status"' \
    'has later.err "MPI_Allreduce of 8 bytes by rules gave a wrong result during the measurement"' \
    'lacks later.out "\"version\""'
# The first six barriers are the benchmark's own, including those of the check before measuring.
WRONG=MPI_Barrier WRONG_AFTER=6 plainly through 2 latency --json --ops barrier --arrival one --skew-us 3000
check "the ranks' clocks show a barrier that lets ranks through" all 'is 1 "$status"' \
    'has through.err "MPI_Barrier of 0 bytes by rules gave a wrong result during the measurement"'
WRONG=MPI_Iallreduce plainly posted 2 overlap --json "${quick[@]}" --ops allreduce --bytes 1k --test-bytes 0
check "... a nonblocking barrier that lets ranks through is found, too" all 'is 1 "$status"' \
    'has posted.err "the nonblocking form of allreduce of 1024 bytes by rules gave a wrong result"' \
    'lacks posted.out "\"version\""'
plainly right 1 overlap --json "${quick[@]}" --ops allreduce --bytes 1k --test-bytes 0
check "... a correct barrier is not reported" is 0 "$status"
