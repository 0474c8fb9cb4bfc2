#!/bin/bash
# timeout: 400
# Two machines with separate clocks: after synchronisation they differ by no more than the reported
# bounds, and events of both are in one order.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
lab_test "clocks of two machines" -n 2 -t 360

BENCH=$BUILD/stagger-bench
export STAGGER_QUIET=1

# between NAME OPTION...: stagger-bench with two ranks on each machine
between() {
    local name=$1
    shift
    STAGGER_TRACE=off timeout --kill-after=5 "$PROGRAM_SECONDS" mpi 2 2 "$BENCH" "$@" --json </dev/null \
        >"$name.out" 2>"$name.err"
    status=$?
}

between clock clock --time 1.5
check "there are two clocks, each of two ranks" all 'is 0 "$status"' \
    'is "2:1 2:1" "$(json clock.out "\" \".join(\"%d:%d\" % (r[\"clocks\"], r[\"rounds\"]) for r in d[\"results\"] if r[\"kind\"] == \"synchronisation\")")"'
check "exchanges outside the synchronisation find the clocks within the bounds" is "True True True" \
    "$(json clock.out '" ".join(str(r["within"]) for r in d["results"] if r["kind"] == "audit")')"
echo "# bounds, us: $(json clock.out '" ".join("%.1f" % r["bound_us"] for r in d["results"]
    if r["kind"] == "drift" and r["rank"] != 0)')"
echo "# audit, difference and half trip, us: $(json clock.out '" ".join("%.1f/%.1f" % (r["difference_us"],
    r["trip_us"]) for r in d["results"] if r["kind"] == "audit")')"

between delay delay --ops barrier --iterations 5 --time 5 --late-us 20000
check "delays between machines are measured" all 'is 0 "$status"' \
    'is True "$(json delay.out "all(r[\"clock_bound_us\"] > 0 and (r[\"delay_us\"] is None or r[\"delay_us\"] > -2 * r[\"clock_bound_us\"]) for r in d[\"results\"])")"'

lab_mpi counts 2 1 "$PROGRAMS/calls" 50
check "a trace of both machines has an error bound of its clocks, and their errors stay below it" all \
    'is 0 "$status"' 'report_json counts.trace counts.json' \
    'is True "$(json counts.json "d[\"clock\"][\"offset_error_ns\"] > 0 and d[\"clock\"][\"largest_violation_ns\"] <= 2 * d[\"clock\"][\"offset_error_ns\"]")"'
