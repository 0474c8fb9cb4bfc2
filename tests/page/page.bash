# Shared by the scripts of tests/page, sourced after sh.sh: makes the runs whose pages are checked.
# shellcheck shell=bash

for page_program in report/make_archive report/make_large report/make_traffic report/make_messages \
    compare/make_pair; do
    "${CC:-gcc}" -O1 -std=gnu11 -D_GNU_SOURCE -I"$ROOT/shim" -I"$ROOT/tests" \
        "$ROOT/tests/$page_program.c" -o "${page_program#*/}" -lotf2 || {
        echo "not ok - the fixtures' writer compiles"
        exit 1
    }
done
mkdir statistics killed-statistics all-calls
for page_kind in known foreign many many-comms without-collectives statistics killed-statistics \
    all-calls; do
    ./make_archive "$page_kind" "$page_kind" || exit 1
done
./make_pair a b && ./make_archive long long && ./make_archive short short || exit 1
./make_large 1000 60 40 large && ./make_large 4 10000 10000 sites && ./make_large 1 20 2 one || exit 1
./make_traffic 1000 600 large && ./make_messages known waits && ./make_messages ring 4 2000 ring &&
    ./make_messages late 3 41 late && ./make_messages late 1000 20 many-late || exit 1
cp -r known cut && truncate -s 100 cut/traces/0.evt

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
