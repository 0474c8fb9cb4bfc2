#!/bin/bash
# One-sided communication in stagger report, for programs with known operations and waits.
. "$(dirname "$0")/../lib/sh.sh"

# ---- operations by origin and target -------------------------------------------------------------

# Each rank puts 4 x 8 + 16 + 24 bytes to the right with 10 calls, 4 of which fetch 20; to the left
# 16 bytes with 3 calls, and gets 12 + 12 + 4. Rank 0 puts 40 to itself and to rank 2, which are
# ranks 0 and 1 of a communicator.
cat >known <<'END'
0 0 puts 1 40 gets 0 0
0 1 puts 10 72 gets 4 20
0 2 puts 4 56 gets 3 28
1 0 puts 3 16 gets 3 28
1 2 puts 10 72 gets 4 20
2 0 puts 10 72 gets 4 20
2 1 puts 3 16 gets 3 28
other 0 0 0 0
END
# tell DIR: prints the parsed report, a line per pair
tell() {
    report_json "$1" one.json && json one.json '"\n".join(["%d %d puts %d %d gets %d %d" % tuple(p[f] for f in
        ("origin", "target", "puts", "put_bytes", "gets", "got_bytes"))
        for p in sorted(d["one_sided"]["pairs"], key=lambda p: (p["origin"], p["target"]))] + ["other %d %d %d %d" %
        tuple(d["one_sided"]["other_" + f] for f in ("puts", "put_bytes", "gets", "got_bytes"))])'
}
for trace in otf2 stats; do
    STAGGER_TRACE=$trace observe "$trace" 3 "$PROGRAMS/known_windows"
    check "a known program runs ($trace)" ran_well "$trace"
    check "puts and gets of each pair of ranks equal the program's own ($trace)" same known <(tell "$trace.trace")
    "$STAGGER" report "$trace.trace" >"$trace.txt" 2>err
    check "the text has puts and gets ($trace)" all 'empty err' \
        'has_lines "$trace.txt" "^one-sided operations, 7 of 7 pairs:$" 1' \
        'has "$trace.txt" "^ +0 +1 +10 +72B +4 +20B$"' 'has "$trace.txt" "^ +2 +1 +3 +16B +3 +28B$"'
done
check "the pairs with the most bytes come first, in CSV, too" is "origin,target,puts,put_bytes,gets,got_bytes 0,1,10,72,4,20" \
    "$("$STAGGER" report --csv=one-sided otf2.trace | head -n2 | tr -d '\r' | xargs)"
check "--top cuts the table, and --rank shows that rank's rows" all \
    'has_lines <("$STAGGER" report --top 2 otf2.trace) "^one-sided operations, 2 of 7 pairs:$" 1' \
    'is 2 "$("$STAGGER" report --json --rank 1 otf2.trace >part.json && json part.json "len(d[\"one_sided\"][\"pairs\"])")"'
check "the page has the table" all '"$STAGGER" report --html page.html otf2.trace' \
    'has_lines page.html "id=\"targets\"" 1'

# ---- wait states ---------------------------------------------------------------------------------

# Ignores the length of waits, and whether every round waited: the machine may be slow.
observe waits 3 "$PROGRAMS/known_windows" waits
check "a program with known waits runs" ran_well waits
report_json waits.trace waits.json
json waits.json '"\n".join("%s: %s in %s for %d: %s in %s" % (p["state"], p["mpi_function"], p["function"],
    p["rank"], p["for"]["mpi_function"], p["for"]["function"]) for p in d["wait_states"]["pairs"]
    if p["waits"] <= 20)' >pairs

# found STATE CALL RANK CALL: that pair is there
found() { has pairs "^$1: $2 for $3: $4$"; }
check "a late fence is found" found "wait at fence" "MPI_Win_fence in early_fence" 1 "MPI_Win_fence in late_fence"
check "... late ranks are found where windows are created and freed" all \
    'found "wait at create" "MPI_Win_create in early_create" 2 "MPI_Win_create in late_create"' \
    'found "wait at free" "MPI_Win_free in early_free" 0 "MPI_Win_free in late_free"'
check "a late post is found, in the start or the complete" \
    found "late post" "MPI_Win_(start|complete) in early_start" 1 "MPI_Win_post in late_post"
check "a late complete is found" \
    found "early wait" "MPI_Win_wait in early_wait" 0 "MPI_Win_complete in late_complete"
check "a held lock is found, in the lock or in the first call that needs it" \
    found "lock contention" "MPI_Win_(lock|unlock) in early_lock" 0 "MPI_Win_unlock in late_unlock"
check "nobody else waits for a lock, and nobody waits in another way for the late ranks" is "" "$(grep -v \
    -e "^wait at create:.*_create$" -e "^wait at free:.*_free$" -e "^wait at fence:.*_fence$" -e "^wait at [cf].* in main$" \
    -e "^late post: .* in \(early_start\|late_complete\) for 1: MPI_Win_post in \(late_post\|early_wait\)$" \
    -e "^early wait: .* in \(early_wait\|late_post\) for 0: MPI_Win_complete in \(late_complete\|early_start\)$" \
    -e "^lock contention: .* in early_lock for 0: MPI_Win_unlock in late_unlock$" \
    -e "^wait at barrier: " -e "^late sender: " -e "^late receiver: " pairs)"
check "fences, and calls that create and free windows, have their skew" is "MPI_Win_create MPI_Win_fence MPI_Win_free" \
    "$(json waits.json '" ".join(sorted({r["mpi_function"] for r in d["collectives"] if r["instances"] == 10}))')"
check "the waits equal those of the archive's events" \
    "$PYTHON" "$ROOT/tests/report/check_window_waits.py" waits.trace/traces.otf2 waits.json

observe contend 3 "$PROGRAMS/known_windows" contend
check "a program with ranks that contend for locks runs" ran_well contend
report_json contend.trace contend.json
check "... its waits equal those of the archive's events, too" all \
    '"$PYTHON" "$ROOT/tests/report/check_window_waits.py" contend.trace/traces.otf2 contend.json >contend.out' \
    'has contend.out "lock contention"'

# ---- an archive of another tool, worked out by hand ----------------------------------------------

"$PYTHON" "$ROOT/tests/report/make_windows.py" ahead || exit 1
check "fences are matched by window and number" is "wait at fence 1 30 30 for 1" \
    "$(report_json ahead ahead.json && json ahead.json '"\n".join("%s %d %d %d for %d" % tuple(p[f] for f in ("state",
        "waits", "wait_ns", "max_ns", "rank")) for p in d["wait_states"]["pairs"])')"
