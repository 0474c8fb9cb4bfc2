#!/bin/bash
# stagger watch on paused jobs: its figures match the report on the same logs at that moment, and it
# names the rank that the others wait for.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/watch/job.bash"

# agree NAME
agree() {
    "$STAGGER" report --json "$1.trace" >"$1.statistics.json" 2>/dev/null &&
        "$STAGGER" recover --output "$1.so-far" "$1.trace" >"$1.recover" 2>&1 &&
        report_json "$1.so-far" "$1.events.json" && look "$1.trace" &&
        "$PYTHON" "$ROOT/tests/watch/agrees.py" look.json "$1.statistics.json" "$1.events.json"
}

# ends_well NAME N CALL...: all calls were correct, and the library printed no complaint
ends_well() {
    local name=$1
    go_to_end "$1" "$2"
    shift 2
    is 0 "$status" && is "$*" "$(tr '\n' ' ' <"$name.out" | sed 's/ $//')" && is "" "$(ls "$name.trace"/rank-*.log 2>/dev/null)" &&
        archive_sound "$name.trace"
}

export STAGGER_CAUSES=all # so that each interval tells why the last rank is last
for ranks in 2 4; do
    calls=(barrier reduce allreduce recv allreduce alltoall barrier)
    begin "still$ranks" "$ranks" "${calls[@]}"
    last=$((ranks - 1))
    for function in MPI_Barrier MPI_Reduce MPI_Allreduce MPI_Recv MPI_Allreduce; do
        # Only the root waits for a reduction.
        waiting=$((last - 1))
        [ "$function" != MPI_Reduce ] || waiting=0
        until_so is_stopped "still$ranks" "$last" &&
            until_so ranks_in "still$ranks.trace" "$waiting" "$function" ||
            { echo "not ok - $function is reached"; exit 1; }
        kill -CONT "$(pid_of "still$ranks" "$last")"
    done
    check "a job of $ranks ranks is stopped at the intended call" stand_at "still$ranks" "$ranks" MPI_Alltoall
    check "its figures equal the report's ($ranks ranks)" agree "still$ranks"
    check "the last rank, which had stopped, slept before each call" all \
        "is '[$last]' \"\$(json look.json 'sorted({r[\"why\"][\"rank\"] for r in d[\"calls\"] if r[\"function\"] in (\"call_barrier\", \"call_allreduce\", \"call_reduce\") and r[\"mpi_function\"] != \"MPI_Bcast\" and r[\"why\"][\"off_ns\"] > 0})')\"" \
        'has <("$STAGGER" watch --count 1 "still$ranks.trace") "call_barrier .* (asleep|preempted[a-z ]*) on $last$"'
    check "waiting ranks are in the call, at its site, and the awaited one is in none" all \
        "is 'None $ranks $ranks' \"\$(json look.json 'str(d[\"per_rank\"][$last][\"in\"]) + \" %d %d\" % (d[\"living_ranks\"], d[\"ranks\"])')\"" \
        "is 'call_alltoall' \"\$(json look.json 'd[\"per_rank\"][0][\"in\"][\"function\"]')\"" \
        "is '[$last, $last]' \"\$(json look.json '[next(r for r in d[\"calls\"] if r[\"function\"] == \"call_allreduce\")[k] for k in (\"last_rank\", \"least_rank\")]')\""
    check "a call that nobody has completed has a row, too" \
        is "0 $last" "$(json look.json "next('%d %d' % (r['calls'], r['open_calls']) for r in d['calls'] if r['mpi_function'] == 'MPI_Alltoall')")"

    # Within the interval nobody moves: every rank is in MPI for all of it, except the last one,
    # which is in MPI for none.
    "$STAGGER" watch --json --count 2 --interval 0.2 "still$ranks.trace" | tail -n 1 >second.json
    check "open calls count in the interval, and ranks outside MPI do not" all \
        "is 'True' \"\$(json second.json 'all(r[\"now_share\"] == 1 for r in d[\"per_rank\"][:$last]) and d[\"per_rank\"][$last][\"now_share\"] == 0')\"" \
        "is 0 \"\$(json second.json 'd[\"calls\"][0][\"now\"][\"calls\"]')\"" \
        "is 'MPI_Alltoall' \"\$(json second.json 'd[\"calls\"][0][\"mpi_function\"]')\""
    go_on "still$ranks" "$ranks"
    check "the job ends undisturbed by watch ($ranks ranks)" ends_well "still$ranks" "$ranks" "${calls[@]}"
done

# Statistics only: without events, arrivals are unknown.
export STAGGER_TRACE=stats
begin stats 2 barrier allreduce allreduce
until_so is_stopped stats 1 && kill -CONT "$(pid_of stats 1)"
until_so is_stopped stats 1
still() { look stats.trace && [ "$(json look.json "sum(r['calls'] for r in d['calls'])")" -ge 4 ]; }
until_so still
kill -STOP "$(pid_of stats 0)"
until_so is_stopped stats 0
"$STAGGER" report --json stats.trace >stats.json 2>/dev/null
look stats.trace
check "with statistics only, figures equal the report's, and waits are unknown" all \
    'is "$(json stats.json "(d[\"mpi\"], sorted((r[\"id\"], r[\"calls\"], r[\"time_ns\"]) for r in d[\"calls\"]))")" \
        "$(json look.json "(d[\"mpi\"], sorted((r[\"id\"], r[\"calls\"], r[\"time_ns\"]) for r in d[\"calls\"]))")"' \
    'is "{None}" "$(json look.json "{r[\"wait_ns\"] for r in d[\"calls\"]}")"'
go_on stats 2
go_to_end stats 2
check "the job ends well" is 0 "$status"
