#!/bin/bash
# stagger compare --history as users run it: runs are added once, the page and the badge show them, and
# a directory with a stranger's files is safe.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/page/page.bash"
COMMAND=compare
fixtures report/make_traffic compare/make_pair
./make_pair a b && mkdir traffic && ./make_traffic 4 3 traffic || exit 1

# history DIR ARGUMENT...: its page is sound, in page.page
history() {
    "$STAGGER" compare --history "$@" >history.out 2>history.err || { cat history.err; return 1; }
    cp "$1/index.html" page.html && sound page
}

check "a run is added to a history that is made for it" all 'history first --label "<b>&1" a' 'empty history.err' \
    'has history.out "^first/index.html and badge.svg: 1 run$"' 'is 1 "$(ls first/*.run.json | wc -l)"' \
    'is "1 <b>&1 cg 2 160000 8000 None" "$(json "$(echo first/*.run.json)" "\" \".join(str(d[k]) for k in (\"stagger_run\", \"label\", \"program\", \"ranks\", \"run_ns\", \"waiting_ns\", \"mpi_ns\"))")"' \
    'says page "<b>&1"' 'says page "1 run on 2 ranks"' 'says page "MPI_Barrier solve solver.c:88"' \
    'lacks first/index.html "<b>"'
check "... again, it replaces its file" all 'history first/ --label again a/' 'is 1 "$(ls first/*.run.json | wc -l)"' \
    'says page again'
check "runs of other programs are left out, with a line" all 'history first b' \
    'is 2 "$(ls first/*.run.json | wc -l)"' 'says page "1 run of other programs or numbers of ranks is left out"'
mkdir inside && cp -a a inside/run.1 && cp -a a inside/run.2 && cp -a traffic inside/other && mkdir inside/none
touch -d '2026-01-02 03:04:05' inside/run.1 && touch -d '2026-01-02 03:04:06' inside/run.2
for run in inside/run.[12]; do touch -r "$run" "$run/stagger.conf"; done
check "runs that lie in the history are found" all 'history inside' 'is 2 "$(ls inside/*.run.json | wc -l)"' \
    'says page "2 runs on 2 ranks"' 'says page "2026-01-02 03:04:05"'
check "a run of statistics has its time in MPI, and no waits" all 'history stats traffic' 'says page "1 run on 4 ranks"' \
    'says page "in MPI *1[.]7%"' 'says page "waiting for others *-"' 'says page "MPI_[A-Za-z]+ exchange_[0-9]"'

points steady 100 101 99 100 102 98 100 101
check "a history without changes says so" all 'history steady' 'says page "has not changed beyond its noise"' \
    'has steady/badge.svg "run time: 100ms<"'
points slower 100 101 99 100 102 98 115 116 114 115 116
check "a slower level is named with its first run, on the page and on the badge" all 'history slower' \
    'says page "Run time *[+]15.0% since c7 [(]100ms → 115ms[)]"' 'has slower/badge.svg "run time: 115ms, [+]15.0%<"' \
    'has slower/badge.svg "#c2410c"' \
    'is "11 1 1000000" "$(in_page page "\"%d %d %d\" % (len(d[\"data\"][\"names\"]), sum(r[3] for r in d[\"data\"][\"figures\"][0]), d[\"data\"][\"figures\"][0][6][0] - 114e6)")"'
check "the badge is XML" "$PYTHON" -c 'import xml.dom.minidom, sys; xml.dom.minidom.parse("slower/badge.svg")'

# ---- a stranger's directory ----------------------------------------------------------------------

points strange 100 101
echo '{' >strange/3.run.json
echo '{"stagger_run": 1, "begun_ms": -1, "ranks": 2, "run_ns": 5, "processor_ns": 5}' >strange/4.run.json
echo '{"stagger_run": 1, "begun_ms": 9e99, "ranks": 1e99, "run_ns": 5, "processor_ns": 0}' >strange/5.run.json
mkfifo strange/6.run.json
echo secret >secret && ln -s ../secret strange/7.run.json
head -c 100000 /dev/zero | tr '\0' '[' >strange/8.run.json
mkdir strange/9.run.json
printf '{"stagger_run": 1, "begun_ms": 9223372036854775807, "label": "\\u001b[31m</script>\\u009b\\"", "program": "cg", "ranks": 2, "run_ns": 9223372036854775807, "waiting_ns": 9223372036854775807, "mpi_ns": 5, "processor_ns": 0, "site": null}' >strange/10.run.json
check "files that are no summaries are left out, with a line each" all 'timeout 60 "$STAGGER" compare --history strange >strange.out 2>strange.err' \
    'is 7 "$(grep -c "left out$" strange.err)"' 'is 7 "$(wc -l <strange.err)"' 'has strange.out ": 3 runs$"' \
    'lacks strange/index.html secret' 'cp strange/index.html page.html' 'sound page' 'says page "7 files could not be read"'
points linked 100 101 && echo mine >mine && ln -s ../mine linked/index.html && mkfifo linked/fifo
check "a link in the place of the page is not followed" all \
    '! timeout 60 "$STAGGER" compare --history linked 2>linked.err' 'has linked.err "linked/index.html: no regular file"' \
    'is mine "$(cat mine)"'
rm linked/index.html && ln -s fifo linked/badge.svg
check "... nor one in the place of the badge" all '! timeout 60 "$STAGGER" compare --history linked 2>linked.err' \
    'has linked.err "linked/badge.svg: no regular file"'
check "a full disk leaves the old page" all 'cp slower/index.html before' \
    '! (ulimit -f 4; trap "" XFSZ; "$STAGGER" compare --history slower 2>full.err)' 'same before slower/index.html' \
    'is 2 "$(ls slower | grep -vc run.json)"'
mkdir void
check "a history without runs, and one that cannot be made, are refused" all 'refused 1 "void: no run; name one" --history void' \
    'refused 1 "nowhere: No such file" --history void nowhere' 'refused 1 "No such file" --history no/where a'
check "the history has usage of its own" all 'refused 2 "takes runs without --" --history void a -- b' \
    'refused 2 "label .*--history" --label x a b' 'refused 2 "cannot be combined with --" --history void --json a'
