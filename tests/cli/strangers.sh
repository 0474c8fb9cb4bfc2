#!/bin/bash
# Every command on a directory that another user has prepared: FIFOs, links, and text that a
# terminal or a spreadsheet would interpret.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
. "$ROOT/tests/report/golden.bash"

fixtures report/make_archive cli/make_stranger
./make_archive known known && mkdir statistics && ./make_archive statistics statistics || exit 1
mkdir crashed && ./make_stranger crashed 1 "" "" || exit 1

# finishes COMMAND ARGUMENT...: it ends by itself, with any status
finishes() {
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$STAGGER" "$@" </dev/null >"$WORK/finished.out" 2>"$WORK/finished.err"
    [ $? -lt 124 ] && return
    echo "stagger $* does not end"
    return 1
}

# all_finish DIR: every command that reads a run's directory finishes
all_finish() {
    local failed=0
    finishes report "$1" || failed=1
    finishes report --json "$1" || failed=1
    finishes report --html page.html "$1" || failed=1
    finishes compare "$1" known || failed=1
    finishes advise "$1" || failed=1
    finishes export --perfetto trace.json "$1" || failed=1
    finishes arrivals "$1" || failed=1
    finishes watch --count 1 "$1" || failed=1
    finishes recover --output recovered "$1" || failed=1
    rm -rf recovered page.html trace.json
    return "$failed"
}

# ---- special files -----------------------------------------------------------------------------------

replaced=()
for file in traces.otf2 traces.def traces.marker traces/0.evt traces/0.def stagger.conf; do
    replaced+=("known $file")
done
for file in rank-000000.log stagger.conf; do replaced+=("statistics $file"); done
for ((i = 0; i < ${#replaced[@]}; i += ${SG_TEST_STEP:-1})); do
    pair=${replaced[i]}
    file=${pair#* }
    rm -rf planted && cp -r "${pair% *}" planted && rm -f "planted/$file" && mkfifo "planted/$file"
    check "a FIFO for $file of ${pair% *} blocks no command" all_finish planted
    rm "planted/$file" && ln -s /dev/tty "planted/$file"
    check "a link to a terminal blocks no command" all_finish planted
done
cp -r known planted.fifo && rm planted.fifo/traces/1.evt && mkfifo planted.fifo/traces/1.evt
check "the message names the file" all '! "$STAGGER" report --all planted.fifo 2>fifo.err' \
    'has fifo.err "planted.fifo/traces/1.evt: is not a regular file"'
mkfifo module && mkdir module.fifo && ./make_stranger module.fifo 1 "$WORK/module" ""
check "a FIFO that a log names as a module blocks no command" all_finish module.fifo

# ---- links -------------------------------------------------------------------------------------------

# links_are_refused FILE REGEX: moves FILE elsewhere and links to it; one line refuses the link
links_are_refused() {
    rm -rf linked elsewhere && cp -r known linked && mv "linked/$1" elsewhere &&
        ln -s "$WORK/elsewhere" "linked/$1" && ! "$STAGGER" report --all linked >linked.out 2>linked.err &&
        empty linked.out && has linked.err "linked/$1: is a symbolic link, which is not followed"
}
for file in traces.otf2 traces.def traces traces/0.evt; do
    check "a link for $file is not followed" links_are_refused "$file"
done
ln -s known linked-directory
check "a directory that the user names through a link is followed" all '"$STAGGER" report --all linked-directory >by-link' \
    '"$STAGGER" report --all known >by-name' 'sed -i "1s/ *linked-directory/ known/" by-link; sed -i "1s/ *known/ known/" by-name' 'same by-name by-link'

# ---- settings shown on a page ------------------------------------------------------------------------

printf 'STAGGER_TRACE=otf2\nSTAGGER_SECRET=s3cret\npassword=s3cret\nbarrier@a.c:1=srm\n' >secret
chmod 600 secret && ln -s "$WORK/secret" known/stagger.conf
check "a page has no line of a file that stagger.conf links to" all \
    '"$STAGGER" report --html page.html known 2>page.err' \
    'has page.err "known/stagger.conf: is a symbolic link, which is not followed"' \
    'lacks page.html "s3cret|STAGGER_TRACE"'
rm known/stagger.conf && cp secret known/stagger.conf
check "a page shows only settings and rules from stagger.conf" all '"$STAGGER" report --html page.html known' \
    'has page.html STAGGER_TRACE' 'has page.html "barrier@a.c:1"' 'lacks page.html "s3cret|password"'
rm known/stagger.conf

# ---- text that a terminal or a spreadsheet interprets ------------------------------------------------

words=$'=HYPERLINK("x")\e]0;owned\a\xc2\x9b31m\x9b\x7f\r\n@SUM(1)'
mkdir words words-statistics && ./make_stranger words 1 /no/module "$words" &&
    ./make_stranger words-statistics 1 /no/module "$words" stats || exit 1
"$STAGGER" recover words >recover.out 2>&1 || { cat recover.out; exit 1; }

# plain_text FILE...: valid UTF-8 with no control characters but line ends
plain_text() {
    "$PYTHON" - "$@" <<'END'
import sys
for name in sys.argv[1:]:
    text = open(name, "rb").read().decode("utf-8").replace("\r\n", "\n")
    bad = sorted({hex(ord(c)) for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)})
    if bad:
        sys.exit("%s has %s: %r" % (name, bad, [l for l in text.split("\n") if any(
            c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160) for c in l)][:3]))
END
}
# prints_plain COMMAND ARGUMENT...: stdout and stderr are plain text
prints_plain() {
    "$STAGGER" "$@" >plain.out 2>plain.err || { cat plain.err; return 1; }
    plain_text plain.out plain.err
}
for directory in words words-statistics; do
    check "text of $directory has no escape sequence" prints_plain report "$directory"
    check "text of communicators has no escape sequence" prints_plain report --comms "$directory"
    check "JSON has no escape sequence" prints_plain report --json "$directory"
    check "JSON keeps the names" json plain.out 'd["program"]' # parses
    for table in sites functions calls messages collectives waits pairs path causes primitives; do
        check "CSV of $table has no escape sequence" prints_plain report --csv=$table "$directory"
        check "no cell is a formula" lacks plain.out '(^|,)"?[=+@-][A-Za-z]'
    done
    check "a page has no escape sequence" all 'prints_plain report --html page.html "$directory"' 'plain_text page.html'
    check "a comparison has no escape sequence" prints_plain compare "$directory" "$directory"
    check "a comparison's JSON has no escape sequence" prints_plain compare --json "$directory" "$directory"
    check "a comparison's CSV has no escape sequence" prints_plain compare --csv "$directory" "$directory"
    check "a comparison's page has no escape sequence" all 'prints_plain compare --html page.html "$directory" "$directory"' \
        'plain_text page.html'
done
check "advice has no escape sequence" prints_plain advise words
check "an advice's JSON has no escape sequence" prints_plain advise --json words
check "arrivals have no escape sequence" prints_plain arrivals words
check "a trace for Perfetto has no escape sequence" all 'prints_plain export --perfetto trace.json words' \
    'plain_text trace.json' 'json trace.json "len(d[\"traceEvents\"]) > 0"'
check "watch prints no escape sequence" prints_plain watch --count 1 words-statistics
mkdir "$words" && touch "$words/traces.otf2" "$words/rank-000000.log"
for command in report compare advise export watch recover; do
    "$STAGGER" $command "$words" >named.out 2>named.err
    check "$command prints no escape sequence when it refuses a directory of that name" plain_text named.out named.err
done
for run in known statistics; do
    named="$words$run" && cp -r $run "$named"
    for request in report "report --json" "report --csv" "report --html page.html" "compare $run" "compare --json $run" "compare --csv $run" \
        "compare --html page.html $run"; do
        check "$request prints no escape sequence of a run in a directory of that name" prints_plain $request "$named"
    done
    check "its page has no escape sequence" plain_text page.html
done
for request in advise "advise --json" "advise --bcs" arrivals "export --perfetto trace.json" recover; do
    check "$request prints no escape sequence of it" prints_plain $request "${words}known"
done
for request in "watch --count 1" "watch --json --count 1"; do
    check "$request prints no escape sequence of it" prints_plain $request "${words}statistics"
done
check "rules in a file of that name print no escape sequence" all 'prints_plain advise --output "$words.rules" known' \
    'plain_text "$words.rules"'
check "recover prints no escape sequence for a directory that it makes" prints_plain recover --output "$words.made" words
mkdir "$words/bin" && printf '#!/bin/sh\n' >"$words/bin/mpiexec.mpich" && chmod +x "$words/bin/mpiexec.mpich" || exit 1
check "info prints no escape sequence of a launcher in it" all 'PATH=$PWD/$words/bin:$PATH prints_plain info' 'has plain.out "launcher: .*owned"'
"$STAGGER" doctor --launcher "$words" >doctor.out 2>&1
check "doctor prints no escape sequence of a launcher in it" all 'has doctor.out owned' 'plain_text doctor.out'
"$PYTHON" - "$words" >bench.json <<'END'
import json, sys
word = sys.argv[1].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
print(json.dumps({"version": 1, "command": "latency", "ranks": 2, "results": [{
    "op": word, "bytes": 0, "algorithm": word, "vs": word, "scheme": word,
    "samples_us": [1, 2, 3], "vs_samples_us": [2, 3, 4]}]}))
END
cp bench.json "$words.json"
check "bench-merge prints no escape sequence" all 'prints_plain bench-merge bench.json "$words.json"' \
    'prints_plain bench-merge --json bench.json "$words.json"'
check "bad usage prints no escape sequence" all '! "$STAGGER" report --all --sort "$words" known 2>usage.err' 'plain_text usage.err'

# ---- replaced files ----------------------------------------------------------------------------------

mode_of() { stat -c %a "$1"; }
for mode in 600 640 644 666; do
    : >page.html && chmod $mode page.html
    check "a page that replaces a file of mode $mode keeps that mode" all \
        '"$STAGGER" report --html page.html known' 'is $mode "$(mode_of page.html)"' 'has page.html "<html"'
done
rm page.html
check "a new page has the umask's mode" all '(umask 027 && "$STAGGER" report --html page.html known)' \
    'is 640 "$(mode_of page.html)"'
check "output to a device goes into the device" all '"$STAGGER" report --html /dev/null known' 'test -c /dev/null'
check "output goes to standard output" all '"$STAGGER" report --html - known >page.out' 'has page.out "<html"' \
    '"$STAGGER" report --html /dev/stdout known | cat >page.out' 'has page.out "<html"'
check "output goes to standard output that is a file" all '"$STAGGER" report --html /dev/fd/1 known >page.out' 'has page.out "<html"'
mkfifo pipe
check "output goes to a FIFO" all '{ "$STAGGER" report --html pipe known & } && cat pipe >page.out' 'wait $!' \
    'has page.out "<html"' 'test -p pipe'

# ---- a replaced archive ------------------------------------------------------------------------------

# Leaves out the anchor file, whose identity differs each time.
archive_of() { (cd "$1" && find traces* -type f ! -name '*.otf2' -exec sha256sum {} + | sort -k 2); }
"$STAGGER" recover crashed >/dev/null && archive_of crashed >crashed.sums && cp crashed/traces.otf2 anchor || exit 1
# full_disk COMMAND...: limits files to 1 KiB
full_disk() { (ulimit -f 1 && "$@" >full.out 2>full.err); }
check "recover --force that fails leaves the archive as it was" all \
    '! full_disk "$STAGGER" recover --force crashed' 'has full.err "cannot write the trace"' \
    'archive_of crashed | same crashed.sums -' 'cmp anchor crashed/traces.otf2' 'absent crashed/traces.new'
check "recover --force replaces it" all 'echo x >>crashed/traces.def' '"$STAGGER" recover --force crashed' \
    'archive_of crashed | same crashed.sums -' 'absent crashed/traces.new'
cp crashed/traces.otf2 anchor
# An archive replacement that was interrupted between two steps.
mkdir -p crashed/traces.new/old && mv crashed/traces.otf2 crashed/traces.def crashed/traces crashed/traces.new/old &&
    cp -r known/traces crashed/traces && cp known/traces.def crashed/traces.new/traces.def || exit 1
[ ! -e crashed/traces.marker ] || mv crashed/traces.marker crashed/traces.new/old
check "recover undoes an interrupted replacement" all '! "$STAGGER" recover crashed 2>undone.err' \
    'has undone.err "exists already"' 'archive_of crashed | same crashed.sums -' 'cmp anchor crashed/traces.otf2' 'absent crashed/traces.new'
echo mine >crashed/traces/notes
check "another program's file in traces/ stays, and so does the archive" all \
    '! "$STAGGER" recover --force crashed 2>mine.err' 'has mine.err "files that belong to no archive"' \
    'is mine "$(cat crashed/traces/notes)"' 'rm crashed/traces/notes' 'archive_of crashed | same crashed.sums -'

# ---- numbers that a log makes up ---------------------------------------------------------------------

mkdir vast && ./make_stranger vast 1048576 "" "" || exit 1
check "a log that claims 2^20 ranks makes no archive" all '! "$STAGGER" recover vast 2>vast.err' \
    'has vast.err "1 of 1048576 ranks have a log"' 'is rank-000000.log "$(ls vast)"'
mkdir vast-statistics && ./make_stranger vast-statistics 1048576 "" words stats || exit 1
for request in report "report --html page.html" "watch --count 1" advise arrivals "export --perfetto trace.json"; do
    check "$request makes no tables for them" all '! "$STAGGER" $request vast-statistics >vast.out 2>vast.err' \
        'empty vast.out' 'has vast.err "1 of 1048576 ranks have a log"'
done
mkdir large && ./make_stranger large 200 "" "" || exit 1
check "a log that claims 200 ranks makes an archive" all '"$STAGGER" recover large' 'is 200 "$(ls large/traces | grep -c evt)"'
