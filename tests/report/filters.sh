#!/bin/bash
# Parts of a report: by call site, communicator, rank and time. Figures by hand:
# tests/report/known.h.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
. "$ROOT/tests/report/golden.bash"

fixtures report/make_archive
./make_archive known known && mkdir statistics && ./make_archive statistics statistics || exit 1

# of EXPRESSION OPTION...: the expression over the JSON with these options
of() {
    local expression=$1
    shift
    "$STAGGER" report --json "$@" known >part.json && json part.json "$expression"
}
rows='" ".join("%s:%d:%s" % (s["op"], s["calls"], s["wait_ns"]) for s in d["sites"])'

check "--site takes a function" is "barrier:12:26300 allreduce:1:0" "$(of "$rows" --site solve_the_system)"
check "... --site takes the report's form" is "barrier:12:26300 allreduce:1:0" \
    "$(of "$rows" --site 'solve_the_system solver.c:88')"
check "... --site takes a file and line, a module and offset, or an id" is "2 2 2" \
    "$(of 'len(d["sites"])' --site src/solver.c:88) $(of 'len(d["sites"])' --site lib.so+0x20) $(of 'len(d["sites"])' --site 3f2a9c1b)"
check "--comm takes a name, with or without the report's suffix" \
    is "allreduce:1:1900 allreduce:1:0|allreduce:2:0|4" \
    "$(of "$rows" --comm half)|$(of "$rows" --comm 'SELF(1)')|$(of "$(printf 'sum(s["comm_size"] == 4 for s in d["sites"]) + 1')" --comm WORLD)"
check "--site and --comm together select calls that match both" is "barrier:12:26300" \
    "$(of "$rows" --site solve_the_system --comm 'WORLD(4)')"
check "--rank counts the calls of the selected ranks only" is "barrier:6:16000" \
    "$(of "$rows" --site 3f2a9c1b --comm WORLD --rank 0,2)"
check "--rank takes a range of ranks" is "barrier:9:16300" "$(of "$rows" --site 3f2a9c1b --comm WORLD --rank 1-3)"
check "--time counts the instances with the first arrival in the interval" is "barrier:4:2300 1" \
    "$(of "$rows" --time 9us:20us) $(of 'd["sites"][0]["instances"]' --time 9us:20us)"
check "--time may omit an end" is "8300" \
    "$(of 'sum(s["wait_ns"] or 0 for s in d["sites"])' --time :11us)"
check "each rank's figures count the selected calls" \
    is "[(0, 3, 10000, 10300, 0), (1, 3, 2500, 2900, 1), (2, 3, 6000, 6250, 2), (3, 3, 7800, 8300, 0)]" \
    "$(of '[(r["rank"], r["calls"], r["wait_ns"], r["blocked_ns"], r["last_count"]) for r in d["per_rank"]]' --site 3f2a9c1b --comm WORLD)"
check "JSON names the selection" is "dot None 1-2 [1000, None]" \
    "$(of '"{site} {comm} {ranks} {time_ns}".format(**d["filter"])' --site dot --rank 1-2 --time 1us:)"
check "... JSON has null without a selection" is None "$(of 'd["filter"]')"
"$STAGGER" report --site solver.c:88 --rank 0-1 known >part.txt
check "the text names the selection, and has a table of ranks" all \
    'has part.txt "^only site solver.c:88, ranks 0-1$"' \
    'has part.txt "^  rank calls +wait blocked +share +last$"' 'has part.txt "^     1     3 2.50us  2.90us +2.9% +1$"' \
    'lacks part.txt "^     2 "' 'lacks part.txt elsewhere'
check "a selection without matches is reported" has <("$STAGGER" report --site nosuch known) '^no calls match the filter$'

for bad in '--site solver.c:x:0' '--rank x' '--rank 3-1' '--time 5' '--time 9us:1us' '--time a:b' '--comm ~'; do
    # shellcheck disable=SC2086 # two words
    check "$bad is bad usage" refused 2 "stagger: report: |stagger report: " $bad known
done
check "statistics refuse --time" refused 1 'statistics.*time' --time 0:1s statistics
check "a page refuses a selection" refused 2 'html' --html x.html --site dot known
