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
    check "without a run, $command says so" refuses $command
done
check "without a run, $command writes no file" absent none.json
"$STAGGER" compare >pair.out 2>pair.err
check "with fewer than two runs, compare says so" all "is 1 $?" 'empty pair.out' 'has_lines pair.err "" 1' \
    'has pair.err "fewer than two runs in this directory; name them: stagger compare A B$"'

mkdir nothing && run first 9 && run second 1 && run third 5
taken() { "$STAGGER" report >report.txt 2>&1 && sed -n "1s/.* //p" report.txt; }
check "report takes the newest run, not the last by name" is second/traces.otf2 "$(taken)"
ln -s ../second nothing/link
check "runs below a directory that is no run are not searched" is second/traces.otf2 "$(taken)"
ln -s second fourth
check "a link to a run counts as a run" has <(taken) '^(second|fourth)/traces.otf2$'
rm fourth
check "a directory that is itself a run is taken" is ./traces.otf2 "$(cd third && taken)"
check "a named run is taken" is first/traces.otf2 "$("$STAGGER" report first | sed -n "1s/.* //p")"
"$STAGGER" compare >pair.txt
check "compare takes the second newest run as A and the newest as B" \
    is "third/traces.otf2 second/traces.otf2" "$(sed -n '/^   [^ ]*otf2$/s/^ *//p' pair.txt | paste -sd' ')"
check "arrivals, advise and export take the newest run, too" all \
    'is "# second: arrivals" "$("$STAGGER" arrivals | grep -o "^# second: arrivals")"' \
    'same <("$STAGGER" advise second) <("$STAGGER" advise)' \
    '"$STAGGER" export --perfetto newest.json && "$STAGGER" export --perfetto named.json second && same named.json newest.json'
check "recover takes the newest run" is "second/traces.otf2: the archive is already complete" "$("$STAGGER" recover)"
check "--html writes the page of the newest run" all '"$STAGGER" report --html page.html' 'has page.html second/traces.otf2'
chmod 000 second/stagger.conf
check "a run with an unreadable stagger.conf still counts as a run" is second/traces.otf2 "$(taken)"
mkfifo third/fifo && rm -f third/stagger.conf && mkfifo third/stagger.conf
check "a directory with a FIFO as stagger.conf is no run" is first/traces.otf2 "$(rm -rf second && taken)"
