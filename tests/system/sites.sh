#!/bin/bash
# Call sites: file and line in an optimised position-independent program, in a shared library and
# without symbols; ids are the same on all ranks, in all runs and at any load address.
. "$(dirname "$0")/../lib/sh.sh"

# Finds the line of a mark in a source.
line_of() { grep -n "SITE: $2 " "$ROOT/tests/mpi/$1" | cut -d: -f1; }

# Sites of a report: "op function file line calls", sorted.
sites_of() {
    json "$1" '"\n".join(sorted(" ".join(str(v) for v in (s["op"], s["function"],
        (s["file"] or "-").split("/")[-1], s["line"], s["calls"])) for s in d["sites"]))'
}

ids_of() {
    json "$1" '"\n".join(sorted(s["op"] + " " + s["id"] + " " + s["module"] + " " + str(s["offset"])
        for s in d["sites"]))'
}

observe sites 2 "$PROGRAMS/sites"
check "the program runs under the library" ran_well sites
report_json sites.trace sites.json
sites_of sites.json >sites.txt

resolves() { has sites.txt "^$1 $2 $3 $(line_of "$3" "$4") $5$"; }

check "four calls at one place in main resolve to its line" \
    resolves barrier main sites.c loop 8
check "a call in a function resolves to its line" \
    resolves barrier in_a_function sites.c function 2
check "the next call in the same function resolves to the next line" \
    resolves barrier in_a_function sites.c second-in-function 2
check "a call in an inlined function resolves to the call's line" \
    resolves reduce '[a-z]*' sites.c inlined 2
check "a call through a pointer resolves to its line" \
    resolves barrier main sites.c pointer 2
check "a call in a shared library resolves to its line" \
    resolves barrier library_barrier sites_library.c library-barrier 2
check "another call in the shared library resolves, too" \
    resolves allreduce library_allreduce sites_library.c library 2
check "a helper called on two paths is one site" \
    resolves allreduce helper sites.c helper 4
check "there are no other sites" is 8 "$(wc -l <sites.txt)"
check "ids are eight hex digits and all differ" is 8 "$(json sites.json \
    'len({s["id"] for s in d["sites"] if len(s["id"]) == 8 and int(s["id"], 16) >= 0})')"

# Ids.
ids_of sites.json >ids.txt
observe again 3 "$PROGRAMS/sites"
report_json again.trace again.json
check "ids are the same in another run on more ranks" same ids.txt <(ids_of again.json)
observe fixed 2 setarch -R "$PROGRAMS/sites"
report_json fixed.trace fixed.json
check "ids are the same without address space randomisation" same ids.txt <(ids_of fixed.json)
mkdir elsewhere
cp "$PROGRAMS/sites" "$PROGRAMS/libsites.so" elsewhere/
observe moved 2 "$WORK/elsewhere/sites"
report_json moved.trace moved.json
check "ids are the same for a copy in another directory" same ids.txt <(ids_of moved.json)

# Stripped.
observe stripped 2 "$PROGRAMS/stripped/sites"
check "a stripped program runs under the library" ran_well stripped
report_json stripped.trace stripped.json
check "ids are the same in a stripped copy" same ids.txt <(ids_of stripped.json)
check "sites of a stripped program are module and offset" is "True" "$(json stripped.json \
    'all(s["module"] == "sites" and int(str(s["offset"]), 0) > 0 and not s["line"]
         for s in d["sites"] if s["module"] != "libsites.so")')"
"$STAGGER" report --all stripped.trace >stripped.txt
check "the report shows module and offset" has stripped.txt 'sites\+0x[0-9a-f]+'
check "functions that a stripped library exports keep their names" is "True" "$(json stripped.json \
    'any(s["function"] == "library_barrier" for s in d["sites"])')"

# Depth.
STAGGER_DEPTH=3 observe deep 2 "$PROGRAMS/sites"
report_json deep.trace deep.json
check "STAGGER_DEPTH separates the paths to a helper" is 2 "$(json deep.json \
    'len({s["id"] for s in d["sites"] if s["function"].endswith("helper")})')"
path_of() { # FUNCTION-THAT-CALLS-helper
    echo "main sites.c:[0-9]+ > $1 sites.c:[0-9]+ > helper"
}
functions_of() { json "$1" '"\n".join(s["function"] for s in d["sites"])'; }
functions_of deep.json >deep.functions
check "each path has its functions as name" all "has_lines deep.functions '^$(path_of first_path)$' 1" \
    "has_lines deep.functions '^$(path_of second_path)$' 1" "has deep.functions '^main$'"
check "... the name has the lines of the calls on the way" \
    has deep.functions "main sites.c:$(line_of sites.c first) > first_path sites.c:$(line_of sites.c first-helper) > helper"
"$STAGGER" report --all deep.trace >deep.txt
check "the report shows the paths before the call's line" \
    has deep.txt "$(path_of second_path) sites.c:$(line_of sites.c helper)"
"$STAGGER" report --csv deep.trace >deep.csv
check "... CSV has the paths" has deep.csv "$(path_of first_path)"
"$STAGGER" compare deep.trace deep.trace >deep.compare
check "... a comparison has the paths" has deep.compare "$(path_of first_path)"
otf2-print deep.trace/traces.otf2 >deep.print
check "the archive has the paths" has deep.print "$(path_of first_path) \(.*sites.c:$(line_of sites.c helper)\)"
# regions_of REGION: the regions around its calls from helper, in the order of rank 0's events.
regions_of() {
    awk '$1 == "ENTER" || $1 == "LEAVE" { if ($2 == 0) { split($0, part, "\""); print $1, part[2] } }' \
        deep.print | grep -B3 -A4 "^ENTER $1\$" | awk '{ line = line " " $0 } /^LEAVE main$/ { print line; line = "" }'
}
nested=
for name in main second_path helper MPI_Allreduce; do nested+=" ENTER $name"; done
for name in MPI_Allreduce helper second_path main; do nested+=" LEAVE $name"; done
regions_of MPI_Allreduce >deep.regions
check "... a path's functions are regions around the call" has deep.regions "^$nested\$"
check "... a call made in main lies in main's region" is True "$(awk '$1 == "ENTER" && $2 == 0' deep.print |
    grep -A1 'Region: "main"' | grep -q 'Region: "MPI_Barrier"' && echo True)"
check "the archive with these paths is sound" \
    "$PYTHON" "$ROOT/tests/lib/check_archive.py" deep.trace/traces.otf2
STAGGER_DEPTH=3 STAGGER_TRACE=stats observe deep_stats 2 "$PROGRAMS/sites"
report_json deep_stats.trace deep_stats.json
check "statistics have the same paths" same <(sort deep.functions) <(functions_of deep_stats.json | sort)
STAGGER_DEPTH=3 observe deep_stripped 2 "$PROGRAMS/stripped/sites"
report_json deep_stripped.trace deep_stripped.json
functions_of deep_stripped.json >deep_stripped.functions
check "without symbols paths are modules and offsets" \
    has deep_stripped.functions '^sites\+0x[0-9a-f]+ > sites\+0x[0-9a-f]+ > sites\+0x[0-9a-f]+$'
check "STAGGER_DEPTH=3 loses no call" is "$(json sites.json 'sum(s["calls"] for s in d["sites"])')" \
    "$(json deep.json 'sum(s["calls"] for s in d["sites"])')"
STAGGER_DEPTH=3 observe deep_fixed 2 setarch -R "$PROGRAMS/sites"
report_json deep_fixed.trace deep_fixed.json
check "ids of paths are the same without address space randomisation" \
    same <(ids_of deep.json) <(ids_of deep_fixed.json)

# Statistics alone give the same sites.
STAGGER_TRACE=stats observe stats 2 "$PROGRAMS/sites"
report_json stats.trace stats.json
check "statistics have the same sites" same sites.txt <(sites_of stats.json)
