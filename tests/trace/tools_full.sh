#!/bin/bash
# The claims of docs/tools.md for the tools in Debian: each opens a run's archive and shows what the
# page says, and the report reads an archive of EZTrace.
. "$(dirname "$0")/../lib/sh.sh"

observe cg 2 "$PROGRAMS/cg" -n 16 -t 1 -s 0 -w 200
check "a run leaves an archive" all 'ran_well cg' 'archive_agrees cg.trace cg.out'
archive=cg.trace/traces.otf2
# own_allreduces FILE: the sum over all ranks
own_allreduces() { own_counts "$1" | sed 's/.*"allreduce":\([0-9]*\).*/\1/' | awk '{ sum += $1 } END { print sum }'; }
# counted FILE: what a report says, as JSON
counted() { json "$1" 'sum(s["calls"] for s in d["sites"] if s["op"] == "allreduce")'; }
report_json cg.trace before.json
allreduces=$(own_allreduces cg.out)

# tool NAME: it is installed; otherwise one line reports that it is missing
tool() { command -v "$1" >/dev/null || { skip "$1 opens an archive" "not installed"; return 1; }; }

# ---- OTF2's own ----------------------------------------------------------------------------------------

if tool otf2-print; then
    otf2-print "$archive" >events.txt && otf2-print -G "$archive" >definitions.txt
    check "otf2-print shows each call with its line, its algorithm and its number" all \
        'has_lines events.txt "^ENTER .*MPI_Allreduce" "$allreduces"' \
        'has events.txt "call site.*cg\.c:[0-9]+"' 'has events.txt "algorithm"' 'has events.txt "seq"'
    check "... it shows messages with their peer, and collectives with their communicator" all \
        'has events.txt "^MPI_I?SEND .*Receiver: "' 'has events.txt "^MPI_COLLECTIVE_END .*MPI_COMM_WORLD"'
    check "... it shows the library as the archive's creator" all 'has definitions.txt "MPI Rank 1"' \
        'has <(otf2-print -I "$archive") "stagger"'
fi
if tool otf2-marker; then
    otf2-marker --add-def mine note LOW "$archive" &&
        otf2-marker --add mine note "$(otf2-print -G "$archive" | sed -n 's/.*Global Offset: \([0-9]*\).*/\1/p')" \
            GLOBAL 'look here' "$archive"
    check "otf2-marker adds a user's note" has <(otf2-marker "$archive") 'look here'
fi
if tool otf2-snapshots; then
    otf2-snapshots -n 4 "$archive" >snapshots.out 2>&1
    check "otf2-snapshots adds snapshots" all "is 0 $?" '[ -s cg.trace/traces/0.snap ]'
fi
report_json cg.trace after.json
check "these additions leave the report unchanged" same before.json after.json

# ---- others ----------------------------------------------------------------------------------------------

if "$PYTHON" -c 'import otf2' 2>why; then
    check "Python's otf2 reads it: allreduces by call site" is "$allreduces" "$("$PYTHON" - "$archive" <<'END'
import collections, sys
import otf2

sites = collections.Counter()
with otf2.reader.open(sys.argv[1]) as trace:
    site = next(a for a in trace.definitions.attributes if a.name == "call site")
    for location, event in trace.events:
        if isinstance(event, otf2.events.Enter) and event.region.name == "MPI_Allreduce":
            sites[event.attributes[site]] += 1
assert all("cg.c:" in name for name in sites), sites
print(sum(sites.values()))
END
)"
else
    skip "Python's otf2 reads an archive" "not installed"
fi
if tool vite; then
    "$ROOT/tests/lib/draw.sh" "$archive" cg.svg >vite.out 2>&1
    case $? in
    77) skip "ViTE draws it" "$(tail -n 1 vite.out)" ;;
    *) check "ViTE draws both ranks, their calls and their messages" all 'has cg.svg "MPI Rank 0"' 'has cg.svg "MPI Rank 1"' \
        'within 20 100000000 "$(grep -o "<rect" cg.svg | wc -l)"' \
        'within 20 100000000 "$(grep -o "<polygon" cg.svg | wc -l)"' ;;
    esac
fi
if tool eztrace; then
    timeout "$PROGRAM_SECONDS" "$MPIEXEC" -n 2 eztrace -t mpich -o ez "$PROGRAMS/cg" -n 16 -t 1 -s 0 -w 200 \
        >ez.out 2>ez.err </dev/null
    check "EZTrace records the same program" all "is 0 $?" '[ -s ez/cg_trace/eztrace_log.otf2 ]' ||
        { find . -name '*.otf2'; cat ez.err; } | sed 's/^/#   /'
    report_json ez/cg_trace/eztrace_log.otf2 ez.json 2>ez.report
    check "the report of EZTrace's archive counts the allreduces" is "$(own_allreduces ez.out)" "$(counted ez.json)"
    STAGGER_DIR=$WORK/both.trace timeout "$PROGRAM_SECONDS" "$MPIEXEC" -genv LD_PRELOAD "$PRELOAD" -n 2 \
        eztrace -t mpich -o both "$PROGRAMS/cg" -n 16 -t 1 -s 0 -w 200 >both.out 2>both.err </dev/null
    check "beside EZTrace the library records, with EZTrace's wrappers as call sites" all "is 0 $?" \
        'report_json both.trace both.json' 'is "$(own_allreduces both.out)" "$(counted both.json)"' \
        'is "{'"'libeztrace-mpich.so'"'}" "$(json both.json "{s[\"module\"] for s in d[\"sites\"]}")"'
fi
