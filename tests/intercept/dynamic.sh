#!/bin/bash
# Programs without an ordinary world: sessions, spawned processes, and MPICH loaded late (dlopen).
. "$(dirname "$0")/../lib/sh.sh"

observe only 2 "$PROGRAMS/sessions" only
check "a program with sessions only runs under the library" \
    all 'is 0 "$status"' 'has only.out "^session ok$"'
check "a program with sessions only leaves no directory" absent only.trace

observe mixed 2 "$PROGRAMS/sessions" mixed
check "a program with MPI_Init and a session runs under the library" \
    all 'is 0 "$status"' 'has mixed.out "^session ok$"' 'lacks mixed.err "BAD TERM|assert"'
if [ -e mixed.trace/traces.otf2 ]; then
    check "the archive of a run with a session is sound" archive_sound mixed.trace
fi

compare spawn 1 "$PROGRAMS/spawn"
if grep -q 'Error in spawn call' spawn.plain.err spawn.plain.out; then
    skip "a program that spawns runs under the library" "this MPICH cannot spawn (built without PMI's spawn)"
else
    observe spawn 1 "$PROGRAMS/spawn"
    check "a program that spawns runs under the library" ran_well spawn
    check "its archive holds the calls on its own world's communicators" \
        archive_agrees spawn.trace spawn.out
fi

observe plugin 2 "$PROGRAMS/dlopen_main" "$PROGRAMS/libplugin.so"
check "a program that loads MPICH with RTLD_LOCAL runs under the library" ran_well plugin
check "its calls are in the archive once" archive_agrees plugin.trace plugin.out
report_json plugin.trace plugin.json
check "its sites are in the plugin" \
    is "{'libplugin.so'}" "$(json plugin.json '{s["module"] for s in d["sites"]}')"

observe unloaded 2 "$PROGRAMS/unloaded" "$PROGRAMS/libunloaded10.so" "$PROGRAMS/libunloaded20.so"
check "a program that unloads a plugin and loads another at its address runs under the library" \
    all ran_well\ unloaded 'has unloaded.out "^same address"'
STAGGER_DEPTH=2 observe deeper 2 "$PROGRAMS/unloaded" "$PROGRAMS/libunloaded10.so" "$PROGRAMS/libunloaded20.so"
for run in unloaded deeper; do
    report_json $run.trace $run.json
    check "each plugin has its own calls ($run)" is "[('libunloaded10.so', 20), ('libunloaded20.so', 40)]" \
        "$(json $run.json 'sorted((s["module"], s["calls"]) for s in d["sites"])')"
done

observe handle 2 "$PROGRAMS/by_handle" "$PROGRAMS/libplugin.so"
check "a program that finds MPI's functions by handle runs under the library" ran_well handle
check "its calls are in the archive once" archive_agrees handle.trace handle.out

observe deep 2 "$PROGRAMS/by_handle" "$PROGRAMS/libplugin.so" deepbind
check "a plugin that binds MPICH's functions before all others runs" is 0 "$status"
check "one line says that the library is inactive in this run" \
    all 'has_lines deep.err "^stagger: " 1' 'has deep.err "inactive in this run: .*RTLD_DEEPBIND"'
