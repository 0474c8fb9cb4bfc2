#!/bin/bash
# stagger report as users run it: golden outputs of hand-written archives and logs, options, bad
# input. tests/report/report.sh BUILD_DIR; STAGGER_GOLDEN=1 rewrites the golden files.
[ $# -gt 0 ] && BUILD=$1
golden_update=${STAGGER_GOLDEN:-}
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
. "$ROOT/tests/report/golden.bash"

fixtures report/make_archive report/make_posts
for kind in known foreign many without-data without-events without-collectives; do
    ./make_archive "$kind" "$kind" || exit 1
done
for kind in statistics all-calls swapped mmds slices far-slices killed-statistics unrecovered; do
    mkdir "$kind" && ./make_archive "$kind" "$kind" || exit 1
done
for kind in posts post-statistics both handled ahead; do
    mkdir "$kind" && ./make_posts "$kind" "$kind" || exit 1
    [ "$kind" = post-statistics ] || "$STAGGER" recover "$kind" >/dev/null || exit 1
done

# ---- outputs -----------------------------------------------------------------------------------

check "the text of an archive is the golden one" golden known.txt --all known
check "the first screen of an archive is the golden one" golden screen.txt known
check "the first screen of statistics is, too" golden statistics-screen.txt statistics
check "the JSON of it is the golden one" golden known.json --json known
check "the CSV of it is the golden one" golden known.csv --csv known
check "the text of another tool's archive is the golden one" golden foreign.txt --all foreign
check "with many ranks, both ends of the list are shown" golden many.txt --all many
check "the CSV of another tool's archive is the golden one" golden foreign.csv --csv foreign
check "the text of statistics without events is the golden one" golden statistics.txt --all statistics
check "the JSON of statistics without events has null for skew and wait" \
    golden statistics.json --json statistics
check "the text of all calls is the golden one" golden all-calls.txt --all all-calls
check "the JSON of all calls is the golden one" golden all-calls.json --json all-calls
check "the text of nonblocking collectives is the golden one" golden posts.txt --all posts
check "the JSON of them is the golden one" golden posts.json --json posts
check "the CSV of them is the golden one" golden posts.csv --csv posts
check "the text of their statistics is the golden one" golden post-statistics.txt --all post-statistics
check "the CSV of them is the golden one" golden post-statistics.csv --csv post-statistics
check "beside a partial archive statistics give the times of all posts" golden both.csv --csv both
check "the text of late contributions is the golden one" golden handled.txt --all handled
check "the text of calls that ran ahead has parents by communicator" golden ahead.txt --all --comms ahead
check "the JSON of them is the golden one" golden ahead.json --json ahead
check "all calls of one rank have that rank's time" is "4 5150 100000" \
    "$("$STAGGER" report --json --rank 0 all-calls >rank.json && json rank.json \
        '"%d %d %d" % (len(d["functions"]), d["mpi"]["time_ns"], d["mpi"]["processor_ns"])')"
# pairs OPTION...: messages and one-sided operations of pairs of ranks, then of unknown ranks
pairs() {
    "$STAGGER" report --json "$@" swapped >pairs.json && json pairs.json \
        '" ".join(":".join(map(str, part.values())) for key in ("messages", "one_sided") for part in
            d[key]["pairs"] + [dict(list(d[key].items())[1:])])'
}
check "messages and one-sided operations are listed if their communicator's members are known" \
    is "0:1:3:500:2:500:3:7 1:0:3:500:2:500:3:7 3:38 0:1:2:200:0:0 0:0:2:36:0:0 2:5:0:0" "$(pairs)"
check "... with --rank, those with other ranks are of unknown ranks" is "4:529 0:0:2:36:0:0 4:205:0:0" \
    "$(pairs --rank 0)"
check "the text of latencies, granularity and overhead is the golden one" golden mmds.txt --calls mmds
check "the JSON of them is the golden one" golden mmds.json --json mmds
check "MMDS has the figures of the selected ranks, and none by call site" \
    is "1 18000000 12, null" "$("$STAGGER" report --json --rank 1-2 mmds >rank.json &&
        json rank.json '"{ranks} {sum_ns} ".format(**d["mmds"]) + str(len(d["mmds"]["distributions"]))'), $(
        "$STAGGER" report --json --site cg+0x2200 mmds >site.json && json site.json 'json.dumps(d["mmds"])')"
check "the text of a distribution is the golden one" \
    golden distribution.txt --distribution MPI_Sendrecv mmds
check "the text of slices is the golden one" golden slices.txt --slices slices
check "the series of slices is the golden one" golden slices.csv --slices=103-107 --csv --node 0,1 slices
check "the JSON has their metrics" all '"$STAGGER" report -j slices >slices.json' \
    'is "21 1 9 250000 252000" "$("$PYTHON" -c "
import json
r = json.load(open(\"slices.json\"))[\"slices\"]
one = [x for x in r if x[\"metric\"] == \"GETTS\"][0]
print(len([x for x in r if x[\"node\"] == 0]), len({x[\"comm\"] for x in r}), one[\"slices\"], one[\"min\"], one[\"max\"])")"'
check "--metric and --node select metrics and nodes" golden slices-chosen.txt --slices --metric letts,NCOLLMSM --node 1 slices
check "a reversed interval is refused" refused 2 '--slices wants FIRST-LAST' --slices=5-4 slices
check "a list without a valid metric is refused" all \
    '! "$STAGGER" report --slices --metric x slices 2>refused.err' 'has refused.err "metric .* does not exist"'
check "damaged slices have a page" all '"$STAGGER" report --html far.html far-slices 2>far.err' 'has far.html "id=.slice-charts."'
check "nodes and metrics without slices are refused" all "refused 2 '--node needs --slices' --node 1 slices" \
    "refused 2 '--metric needs --slices' --csv --metric LTTS slices" '"$STAGGER" report --json --node 1 slices >of_node.json' \
    '"$STAGGER" report --csv=slices --metric LTTS slices >of_metric.csv'
check "when no slices were recorded one line says so" refused 1 'no slices were recorded' --slices mmds
check "a run that was killed is reported as partial" golden killed.txt --all killed-statistics
check "the report says that an archive has none of these collectives" \
    golden without-collectives.txt --all without-collectives
check "an allreduce without data is no evidence against the clocks, and nobody waits in it" \
    is "0 0 3" "$("$STAGGER" report --json without-data >no-data.json &&
        json no-data.json '"%d %d %d" % (d["clock"]["violations"], d["sites"][0]["wait_ns"],
            d["sites"][0]["instances"])')"
check "the path may be the archive's" golden known.csv --csv known/traces.otf2

# on_terminal COLUMNS ARGUMENT...: stagger report's output on a terminal of that width.
on_terminal() {
    "$PYTHON" -c '
import fcntl, os, pty, struct, sys, termios
reader, writer = pty.openpty()
fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
if os.fork() == 0:
    os.dup2(writer, 1)
    os.close(reader)
    os.execv(sys.argv[2], sys.argv[2:])
os.close(writer)
output = b""
try:
    while True:
        part = os.read(reader, 65536)
        if not part:
            break
        output += part
except OSError:
    pass
sys.stdout.buffer.write(output.replace(b"\r\n", b"\n"))
sys.exit(os.waitpid(-1, 0)[1])' "$1" "$STAGGER" report --all "${@:2}"
}
check "output that is no terminal is not cut" all \
    'has known.txt "^  barrier +solve_the_system solver.c:88 +WORLD\(4\) "' \
    'has known.txt "  mpich\+bypass  "'
NO_COLOR=1 on_terminal 100 known >narrow.txt
check "a terminal cuts functions and lists of algorithms, and keeps file and line whole" all \
    'has narrow.txt "^  barrier +s\S*\.\.\S* solver.c:88 "' 'lacks narrow.txt "solver\.?\.\."' \
    'has narrow.txt "^  allreduce +s\S*\.\.\S* solver.c:88 "'
NO_COLOR=1 on_terminal 200 known >wide.txt
check "a wide terminal shows everything" same known.txt wide.txt
check "CSV reads back as written, except for characters that a terminal or a spreadsheet acts on" "$PYTHON" -c '
import csv, json, re
def shown(value):
    text = re.sub("[\0-\x1f\x7f-\x9f]", lambda found: "\\x%02x" % ord(found[0]), "" if value is None else str(value))
    return "\x27" + text if re.match("[-=+@]", text) else text
rows = list(csv.DictReader(open("known.csv", newline="")))
sites = json.load(open("known.json"))["sites"]
assert len(rows) == len(sites) == 6
for row, site in zip(rows, sites):
    for name in ("id", "op", "function", "file", "line", "module", "offset", "comm", "calls",
                 "bytes", "wait_ns", "blocked_ns", "last_rank", "early", "late", "signals"):
        assert row[name] == shown(site[name]), (name, row, site)
    assert None not in row and None not in row.values()'
check "CSV lines end in CR LF" all 'has_lines known.csv $'"'\\r\$'"' 7' 'is 7 "$(wc -l <known.csv)"'

# ---- sorting and cutting -------------------------------------------------------------------------

# order COLUMN FIELD: the field of all rows, in the order of --sort COLUMN.
order() {
    "$STAGGER" report --json --sort "$1" known >order.json &&
        json order.json '" ".join(str(s["'"$2"'"]) for s in d["sites"])'
}
check "rows are sorted by wait" is "26300 2500 1900 0 0 0" "$(order wait wait_ns)"
check "--sort calls sorts by calls" is "12 6 2 2 1 1" "$(order calls calls)"
check "--sort bytes sorts by bytes" is "384 128 32 8 8 0" "$(order bytes bytes)"
check "--sort blocked sorts by time blocked" is "27750 2700 1900 450 100 40" \
    "$(order blocked blocked_ns)"
check "--sort max sorts by skew, unknown skews last" is "3 2 1 2 0 0" \
    "$(order max instances)"
check "--sort op sorts texts upwards" \
    is "allreduce allreduce allreduce barrier reduce reduce" "$(order op op)"
check "--top cuts the rows" is "26300 2500" \
    "$("$STAGGER" report --json --top 2 known >top.json &&
        json top.json '" ".join(str(s["wait_ns"]) for s in d["sites"])')"
check "the text says how many rows --top leaves" \
    has <("$STAGGER" report --all --top 2 known) '^note: 2 of 5 call sites are shown$'
check "--top beyond the last row shows all" is 6 \
    "$("$STAGGER" report --json --top 99 known >top.json && json top.json 'len(d["sites"])')"

columns=$("$STAGGER" report --all --sort nonsense known 2>&1 | sed 's/.*there are: //')
check "every column can be the sort key" all \
    'is 36 "$(wc -w <<<"$columns")"' \
    'for column in $columns; do "$STAGGER" report --all --sort "$column" known || exit 1; done'

check "a column's header works as well as its name" all \
    'same <("$STAGGER" report --all --sort p95 known) <("$STAGGER" report --all --sort skew95 known)' \
    'same <("$STAGGER" report --all --sort algorithm known) <("$STAGGER" report --all --sort algo known)'

# ---- bad usage and bad input ----------------------------------------------------------------------

check "an unknown column is refused with a list of the columns" \
    refused 2 "no column 'nonsense'.* wait .* repeats" --sort nonsense known
check "an unknown option is bad usage" refused 2 "unrecognized option '--nonsense'" --nonsense known
check "two directories are bad usage" refused 2 "unexpected argument 'many'" known many
check "--top 0 is bad usage" refused 2 "--top wants a number from 1 to 4294967295, not '0'" --top 0 known
check "--top with an invalid number is bad usage" refused 2 "not '-3'" --top -3 known
check "--json with --csv is bad usage" refused 2 "json cannot be combined with --csv" --json --csv known
check "a missing directory is refused" refused 1 "No such file" nowhere
check "an empty directory is refused" refused 1 "neither traces.otf2 nor" "$(mktemp -d -p .)"
check "an archive without events is refused" refused 1 "without events" without-events
check "for logs without an archive the message points to stagger recover, and the statistics are shown" all \
    '"$STAGGER" report unrecovered >unrecovered.txt 2>unrecovered.err' 'has unrecovered.txt "^  did not end "' \
    'has unrecovered.txt "^stagger recover shows who waits for whom"' \
    'has_lines unrecovered.err "stagger recover unrecovered$" 1'
echo "no archive" >letter
check "a file that is no archive is refused" refused 1 "letter: neither a run's output directory" letter
cp letter letter.otf2
check "a file with only an archive's name is refused, in words of ours" all \
    'refused 1 "letter.otf2: not an OTF2 archive, or damaged" letter.otf2' \
    'lacks "$WORK/.check" "chunk header|extension"'
cp -r known cut && truncate -s 100 cut/traces/0.evt
check "a truncated archive is refused" refused 1 "cut/traces.otf2: damaged events" cut
check "a full disk is an error" all '! "$STAGGER" report --all known >/dev/full 2>full.err' \
    'is "stagger: the output cannot be written: No space left on device" "$(cat full.err)"'

# ---- on a terminal, and under valgrind -------------------------------------------------------------

check "stderr that is no terminal gets no progress line" all '"$STAGGER" report --all known 2>err >out' \
    'empty err'
if command -v valgrind >/dev/null && ! grep -q __asan_init "$STAGGER"; then
    memory="valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
        --suppressions='$ROOT/tests/report/valgrind.supp'"
    for kind in known foreign statistics all-calls; do
        check "valgrind finds nothing in the report of $kind" \
            bash -c "$memory '$STAGGER' report $kind >/dev/null"
    done
    check "valgrind finds nothing in a refused report" \
        bash -c "$memory '$STAGGER' report cut 2>/dev/null; [ \$? = 1 ]"
else
    skip "valgrind on the report" "no valgrind, or a sanitizer build"
fi
