# Shared by the scripts of tests/page, sourced after sh.sh.
# shellcheck shell=bash

COMMAND=report
. "$ROOT/tests/report/golden.bash"

# make_runs: those whose pages the scripts check; the writers of more are left beside them
make_runs() {
    local kind
    fixtures report/make_archive report/make_large report/make_traffic report/make_messages compare/make_pair
    mkdir statistics all-calls
    for kind in known many-comms statistics all-calls; do
        ./make_archive $kind $kind || exit 1
    done
    # 300 ranks share columns and blocks as 1000 do, with an eleventh of the pairs.
    ./make_pair a b && ./make_large 300 60 40 large && ./make_traffic 300 600 large && ./make_messages known waits &&
        ./make_messages late 3 41 late && ./make_messages late 300 20 many-late || exit 1
}

# report_page NAME DIR: writes the page of DIR to NAME.html, with nothing on stderr.
report_page() {
    "$STAGGER" report --html "$1.html" "$2" 2>"$1.err" && [ ! -s "$1.err" ] && parse "$1" && return
    echo "not ok - a page of $2 is written"
    failures=$((failures + 1))
    cat "$1.err"
}

# parse NAME: extracts the page's contents to NAME.page; sound NAME: also checks that the page is
# well formed.
parse() { "$PYTHON" "$ROOT/tests/page/check_page.py" "$1.html" >"$1.page"; }
sound() { parse "$1" || { cat "$1.page"; return 1; }; }

# in_page NAME EXPRESSION: the expression, with the page as d
in_page() { json "$1.page" "$2"; }

# says NAME REGEX: the page's text matches
says() { has <(in_page "$1" 'd["text"]') "$2"; }

# point DIR NUMBER RUN-NS: the file of a run in a history
point() {
    printf '{"stagger_run": 1, "begun_ms": %s, "label": "c%s", "program": "cg", "ranks": 2, "partial": false,
        "run_ns": %s, "waiting_ns": 1000, "mpi_ns": null, "processor_ns": 100000, "site": "MPI_Barrier"}' \
        $((1790000000000 + $2 * 60000)) "$2" "$3" >"$1/$2.run.json"
}

# points DIR MS...: the history of runs of so many ms
points() {
    local dir=$1 number=0 ms
    mkdir "$dir"
    shift
    for ms in "$@"; do point "$dir" $((number += 1)) "${ms}000000"; done
}
