#!/bin/bash
# one processor
# Every command on a directory that another user has prepared: with FIFOs, links, and words that a
# terminal or a spreadsheet would act on.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
. "$ROOT/tests/report/golden.bash"

fixtures report/make_archive cli/make_stranger
./make_archive known known && mkdir statistics && ./make_archive statistics statistics || exit 1
mkdir crashed && ./make_stranger crashed 1 "" "" || exit 1

# finishes COMMAND ARGUMENT...: it ends by itself, whatever its status
finishes() {
    timeout --kill-after=5 60 "$STAGGER" "$@" </dev/null >"$WORK/finished.out" 2>"$WORK/finished.err"
    [ $? -lt 124 ] && return
    echo "stagger $* does not end"
    return 1
}

# all_finish DIR: every command that reads a run's directory
all_finish() {
    local failed=0
    finishes report "$1" || failed=1
    finishes report --json "$1" || failed=1
    finishes report --html page.html "$1" || failed=1
    finishes compare "$1" known || failed=1
    finishes advise "$1" || failed=1
    finishes export --perfetto trace.json "$1" || failed=1
    finishes arrivals "$1" || failed=1
    finishes watch --once "$1" || failed=1
    finishes recover --output recovered "$1" || failed=1
    rm -rf recovered page.html trace.json
    return "$failed"
}

# ---- files that are none -----------------------------------------------------------------------------

replaced=()
for file in traces.otf2 traces.def traces.marker traces/0.evt traces/0.def stagger.conf; do
    replaced+=("known $file")
done
for file in rank-000000.log stagger.conf; do replaced+=("statistics $file"); done
for pair in "${replaced[@]}"; do
    file=${pair#* }
    rm -rf planted && cp -r "${pair% *}" planted && rm -f "planted/$file" && mkfifo "planted/$file"
    check "a FIFO for $file of ${pair% *} holds up no command" all_finish planted
    rm "planted/$file" && ln -s /dev/tty "planted/$file"
    check "nor does a link to a terminal" all_finish planted
done
cp -r known planted.fifo && rm planted.fifo/traces/1.evt && mkfifo planted.fifo/traces/1.evt
check "the file is named" all '! "$STAGGER" report planted.fifo 2>fifo.err' \
    'has fifo.err "planted.fifo/traces/1.evt: is not a regular file"'
mkfifo module && mkdir module.fifo && ./make_stranger module.fifo 1 "$WORK/module" ""
check "nor does a FIFO that a log names as a module" all_finish module.fifo

# ---- links -------------------------------------------------------------------------------------------

# links_are_refused FILE REGEX: where FILE is a link to itself elsewhere, one line says so
links_are_refused() {
    rm -rf linked elsewhere && cp -r known linked && mv "linked/$1" elsewhere &&
        ln -s "$WORK/elsewhere" "linked/$1" && ! "$STAGGER" report linked >linked.out 2>linked.err &&
        empty linked.out && has linked.err "linked/$1: is a symbolic link, which is not followed"
}
for file in traces.otf2 traces.def traces traces/0.evt; do
    check "a link for $file is not followed" links_are_refused "$file"
done
ln -s known linked-directory
check "a directory that the user names by a link is" all '"$STAGGER" report linked-directory >by-link' \
    '"$STAGGER" report known >by-name' 'sed -i s/linked-directory/known/ by-link' 'same by-name by-link'

# ---- settings that a page repeats --------------------------------------------------------------------

printf 'STAGGER_TRACE=otf2\nSTAGGER_SECRET=s3cret\npassword=s3cret\nbarrier@a.c:1=srm\n' >secret
chmod 600 secret && ln -s "$WORK/secret" known/stagger.conf
check "a page has no line of a file that stagger.conf links to" all \
    '"$STAGGER" report --html page.html known 2>page.err' \
    'has page.err "known/stagger.conf: is a symbolic link, which is not followed"' \
    'lacks page.html "s3cret|STAGGER_TRACE"'
rm known/stagger.conf && cp secret known/stagger.conf
check "of a file it has the settings and rules alone" all '"$STAGGER" report --html page.html known' \
    'has page.html STAGGER_TRACE' 'has page.html "barrier@a.c:1"' 'lacks page.html "s3cret|password"'
rm known/stagger.conf
