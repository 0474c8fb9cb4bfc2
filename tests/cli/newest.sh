#!/bin/bash
# Commands called without a run take the newest one in the working directory.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
. "$ROOT/tests/report/golden.bash"
fixtures report/make_archive

# run NAME AGE: the archive of a run that began AGE hours ago
run() {
    cp -r ../made/known "$1" && printf '# run x\n' >"$1/stagger.conf" &&
        touch -d "2026-01-02 12:00 $2 hours ago" "$1/stagger.conf"
}
mkdir -p made/known && ./make_archive known made/known || exit 1
mkdir runs && cd runs || exit 1

# refuses COMMAND...: exit status 1, and one line that explains how to name a run
refuses() {
    "$STAGGER" "$@" >refused.out 2>refused.err
    is 1 $? && empty refused.out && has_lines refused.err "" 1 &&
        has refused.err "^stagger: $1: no run found in this directory; name one: stagger $1 DIR\$"
}
for command in report advise recover arrivals 'export --perfetto none.json'; do
    # shellcheck disable=SC2086 # words
    check "$command says that there is no run" refuses $command
done
check "and writes no file" absent none.json
"$STAGGER" compare >pair.out 2>pair.err
check "compare says that there are not two" all "is 1 $?" 'empty pair.out' 'has_lines pair.err "" 1' \
    'has pair.err "fewer than two runs in this directory; name them: stagger compare A B$"'

mkdir nothing && run first 9 && run second 1 && run third 5
taken() { "$STAGGER" report >report.txt 2>&1 && sed -n 2p report.txt; }
check "report takes the newest run, not the last by name" is second/traces.otf2 "$(taken)"
ln -s ../second nothing/link
check "what is below a directory that is no run is not looked for" is second/traces.otf2 "$(taken)"
ln -s second fourth
check "a link to a run is one, too" has <(taken) '^(second|fourth)/traces.otf2$'
rm fourth
check "a directory that is a run itself is the one" is ./traces.otf2 "$(cd third && taken)"
check "a run that is named is taken" is first/traces.otf2 "$("$STAGGER" report first | sed -n 2p)"
"$STAGGER" compare >pair.txt
check "compare takes the last but one as A, and the last as B" \
    is "third/traces.otf2 second/traces.otf2" "$(sed -n '/^   [^ ]*otf2$/s/^ *//p' pair.txt | paste -sd' ')"
check "arrivals, advise and export take it, too" all \
    'is "# second: arrivals" "$("$STAGGER" arrivals | grep -o "^# second: arrivals")"' \
    'same <("$STAGGER" advise second) <("$STAGGER" advise)' \
    '"$STAGGER" export --perfetto newest.json && "$STAGGER" export --perfetto named.json second && same named.json newest.json'
check "recover takes it" is "second/traces.otf2: the archive is already complete" "$("$STAGGER" recover)"
check "the page is of it" all '"$STAGGER" report --html page.html' 'has page.html second/traces.otf2'
chmod 000 second/stagger.conf
check "whose file cannot be read is a run all the same" is second/traces.otf2 "$(taken)"
mkfifo third/fifo && rm -f third/stagger.conf && mkfifo third/stagger.conf
check "a fifo in the place of the file is none" is first/traces.otf2 "$(rm -rf second && taken)"
