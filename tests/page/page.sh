#!/bin/bash
# The pages of stagger report and stagger compare, as text: their figures match those worked out by
# hand, content from the program is escaped, nothing is loaded, the size is bounded; bad input.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/page/page.bash"

make_runs
mkdir killed-statistics
for kind in foreign many without-collectives killed-statistics long short; do
    ./make_archive $kind $kind || exit 1
done
./make_large 4 10000 10000 sites && ./make_large 1 20 2 one && ./make_messages ring 4 2000 ring || exit 1
cp -r known cut && truncate -s 100 cut/traces/0.evt

# screen NAME DIR: the page has all that is on the report's first screen.
screen() {
    "$STAGGER" report "$2" >"$1.txt" && "$PYTHON" "$ROOT/tests/page/check_screen.py" "$1.page" "$1.txt"
}

# ---- the report --------------------------------------------------------------------------------

report_page known known
check "the page is sound" sound known
check "the page begins with the first screen: efficiency, rank time, and where ranks wait" all \
    'says known "4 ranks, 100 us"' 'screen known known'
check "the table has the expected figures" is \
    "barrier 12 3000 6000 6000 26300 27750|reduce 2 - - - 2500 2700|allreduce 3 0 2000 2000 1900 1940|reduce 6 2000 3000 3000 0 450|allreduce 1 - - - 0 100" \
    "$(in_page known '"|".join(" ".join([r[0]["text"]] + [r[i].get("data-v", "-") for i in (4, 7, 8, 9, 10, 11)]) for r in d["tables"]["sites"][1:])')"
check "... the figures of each communicator are below" is \
    "barrier 12 26300|reduce 2 2500|allreduce 1 1900|reduce 6 0|allreduce 1 0|allreduce 2 0" \
    "$(in_page known '"|".join(" ".join([r[0]["text"]] + [r[i].get("data-v", "-") for i in (4, 10)]) for r in d["tables"]["comms"][1:])')"
check "the page has the data for the charts of the worst call site" is "10000 2500 6000 7800 0 2500 1333 733" \
    "$(in_page known '" ".join(str(c[0]) for c in d["data"]["sites"][0]["wait"] + d["data"]["sites"][0]["late"])')"
check "the page has the worst instance, from arrival to departure" is "2 20000 6000 [[0, 0, 6100, 6000], [1, 6000, 6100, 0], [2, 0, 6100, 6000], [3, 0, 6100, 6000]]" \
    "$(in_page known '"%d %d %d %s" % tuple(d["data"]["worst"][0][k] for k in ("seq", "at_ns", "skew_ns", "parts"))')"
check "the page has each rank's time, time blocked and wait" is \
    "[[100100, 10550, 10000], [100000, 5600, 5000], [100000, 8300, 7900], [100000, 8490, 7800]]" \
    "$(in_page known 'd["data"]["by_rank"]')"
check "the page says how accurate the clocks are" all \
    'says known "known to within *70ns *\(rank 2 worst\)"' \
    'says known "In 1 of 8 instances a rank leaves before another has entered, by their clocks: by up to *100ns"'
check "the page says how much time stagger itself took, as far as it was measured" \
    says known "Unknown: no call was timed"
check "the page says how many calls are omitted" says known "2 calls are left out"
check "names with unusual bytes are text" says known 'f\\xff\\x1b na\\xefme,"x"\.c:7'
check "each call's place is shown in full" in_page known \
    '"solve_the_system (/home/user/src/solver.c:88) [cg+0x11c4]" in d["titles"] or exit(1)'

report_page a a
check "names that look like markup are text" all 'sound a' \
    'says a "</script><script>alert\(1\)</script> \"λ\" a&b\.c:7"'
printf '# a comment\nSTAGGER_RULES=<img src=x onerror=alert(1)>\nSTAGGER_TRACE=otf2\n' >a/stagger.conf
report_page configured a
check "the page shows the configuration as text" all 'sound configured' \
    'says configured "STAGGER_RULES *<img src=x onerror=alert\(1\)>"' \
    'says configured "STAGGER_TRACE *otf2"' '! says configured "a comment"'
report_page anchor a/traces.otf2
check "the path may be the archive's" says anchor "STAGGER_TRACE *otf2"

for kind in foreign many; do
    report_page $kind $kind
    check "the page of $kind is sound" sound $kind
done
report_page none without-collectives
check "the page of a run without collectives says so" all 'sound none' \
    'says none "No rank waited for another\."'
report_page statistics statistics
check "statistics have figures and no charts" all 'sound statistics' \
    'says statistics "It is not known who waits for whom: no events were recorded"' \
    'screen statistics statistics'
report_page killed killed-statistics
check "the page of a partial run says so" all 'sound killed' 'says killed "partial: some logs are missing"'
report_page comms many-comms
check "a call site on 40 communicators is one row" all 'sound comms' 'screen comms many-comms' \
    'is "3 42" "$(in_page comms "\"%d %d\" % (len(d[\"tables\"][\"sites\"]), len(d[\"tables\"][\"comms\"]))")"' \
    'is "2 2" "$(in_page comms "\"%d %d\" % (len(d[\"data\"][\"sites\"]), len(d[\"data\"][\"worst\"]))")"'
check "when each call site has one communicator, there is one table" \
    is "sites" "$(in_page many '" ".join(k for k in d["tables"] if k in ("sites", "comms"))')"
report_page one one
check "a run of one rank has no skew" all 'sound one' 'says one "One rank: it waits for no other"' \
    'is 0 "$(in_page one "len(d[\"data\"][\"worst\"])")"'

# ---- all calls of MPI ------------------------------------------------------------------------------

# calls_of NAME DIR: the page has the functions, call sites and messages of the report's JSON.
calls_of() {
    "$STAGGER" report --json "$2" >"$1.json" &&
        "$PYTHON" "$ROOT/tests/page/check_calls.py" "$1.page" "$1.json"
}
report_page calls all-calls
check "functions, call sites and messages equal the report's" all 'sound calls' \
    'calls_of calls all-calls'
check "MPI's share of the run is at the functions, also by rank" \
    says calls "The ranks spent 4\.8% of their time in MPI, from 4\.6% on rank 1 to 5\.1% on rank 0\."
check "the page of a run without statistics of all calls has no such figures" all \
    '! says known "MPI functions|Messages"' \
    'is "False" "$(in_page known "\"messages\" in d[\"data\"]")"'

# ---- wait states, skew and the stretch with the most waiting ---------------------------------------

# tests/report/messages.sh checks the same figures in the report.
report_page waits waits
check "the page has tables of wait states, pairs of call sites and skews" all 'sound waits' 'screen waits waits' \
    'is "late receiver MPI_Ssend f a.c:21 1 80|late broadcast MPI_Bcast f a.c:15 3 60" "$(in_page waits "\"|\".join(\" \".join([r[0][\"text\"], r[1][\"text\"], r[2][\"text\"], r[3][\"data-v\"], r[4][\"data-v\"]]) for r in d[\"tables\"][\"waits\"][1:3])")"' \
    'is "late receiver MPI_Ssend f a.c:21 0 MPI_Recv f a.c:11" "$(in_page waits "\" \".join(d[\"tables\"][\"wait-pairs\"][1][i][\"text\"] for i in (0, 1, 2, 5, 6, 7))")"' \
    'is "MPI_Bcast f a.c:15 WORLD(4) 30 60 3 100%" "$(in_page waits "\" \".join(d[\"tables\"][\"skews\"][1][i].get(\"data-v\" if i in (8, 9) else \"text\") for i in (0, 1, 2, 8, 9, 10))")"'
check "the interval with the most waiting has all calls of a short run, their waits and messages" all \
    'is "28 365 801" "$(in_page waits "\"%d %d %d\" % (len(d[\"data\"][\"stretch\"][\"bars\"]), sum(b[4] for b in d[\"data\"][\"stretch\"][\"bars\"]), d[\"data\"][\"stretch\"][\"length_ns\"])")"' \
    'is "[[0, 50, 1, 60], [2, 100, 0, 190], [1, 200, 3, 281], [0, 260, 3, 270], [2, 785, 3, 790]]" "$(in_page waits "d[\"data\"][\"stretch\"][\"lines\"]")"' \
    'is "MPI_Ssend f a.c:21 2 100 95 80" "$(in_page waits "[\"%s %d %d %d %d\" % (d[\"data\"][\"stretch\"][\"labels\"][b[1]], b[0], b[2], b[3], b[4]) for b in d[\"data\"][\"stretch\"][\"bars\"] if b[4] == 80][0]")"' \
    'says waits "The 28 consecutive calls that waited longest: *365ns"'
# Shows 200 consecutive calls of 24000; rank 0 waits 24 in each round of 12 calls: at most 17 waits.
report_page stretch ring
check "the interval has 200 calls of a long run, and the page says how much is omitted" all 'sound stretch' \
    'is "200 408" "$(in_page stretch "\"%d %d\" % (len(d[\"data\"][\"stretch\"][\"bars\"]), sum(b[4] for b in d[\"data\"][\"stretch\"][\"bars\"]))")"' \
    'says stretch "as (is|are) [0-9]+ more messages?"'
check "when nobody waited there is no such interval" is "False False" \
    "$(in_page statistics '"%s %s" % ("stretch" in d["data"], "waits" in d["tables"])')"

# ---- why ranks come late, and the critical path -----------------------------------------------------

# By round, and 40 of them: ranks 0 and 2 wait 360 and 55 for rank 1, of which 200 computing and 100 asleep on
# rank 2, 50 preempted and 10 in a call on rank 1; and 50 and 5, as rank 2 has its own.
report_page late late
check "the page says why ranks come late" all 'sound late' 'screen late late' \
    'says late "In 40 sampled instances others waited *16\.6us *for the last rank"' \
    'says late "asleep it sleeps"'
check "causes are a table by site, cause and rank, with shares and intervals" is \
    "MPI_Barrier f a.c:4,computing,2,8000,48.19,48-48%,1 back,40,MPI_Barrier f a.c:4 → MPI_Send f a.c:1|MPI_Barrier f a.c:4,preempted,1,4000,24.1,24-24%,,40,MPI_Recv f a.c:2 → MPI_Barrier f a.c:4|MPI_Barrier f a.c:4,asleep,2,4000,24.1,24-24%,1 back,40,MPI_Barrier f a.c:4 → MPI_Send f a.c:1|MPI_Barrier f a.c:4,calls of MPI,1,600,3.614,4-4%,,40,in MPI_Recv f a.c:2" \
    "$(in_page late '"|".join(sorted(("%s,%s,%s,%s,%.4g,%s,%s,%s,%s" % (r[0]["text"], r[1]["text"], r[2]["text"], r[3]["data-v"], float(r[4]["data-v"]), r[5]["text"], r[6]["text"], r[7]["data-v"], r[8]["text"]) for r in d["tables"]["causes"][1:]), key=lambda x: (-int(x.split(",")[3]), -int(x.split(",")[2] == "1"))))')"
causes() { in_page "$1" "(lambda c: $2)(d['data']['causes'])"; }
check "causes are drawn by site and by rank" is \
    "MPI_Barrier f a.c:4 16600 [('computing', 8000), ('preempted', 4000), ('asleep', 4000), ('calls of MPI', 600)] [(1, 'preempted', 4000), (1, 'calls of MPI', 600), (2, 'computing', 8000), (2, 'asleep', 4000)]" \
    "$(causes late '"%s %d %s %s" % (c["sites"][0]["name"], c["sites"][0]["late"], [(c["names"][k], v) for k, v in c["sites"][0]["parts"]], [(r, c["names"][k], v) for r, k, v in c["by_rank"]])')"
check "the chain of the latest instance goes back to its first cause" is \
    "415 computing 2 200 0|1 300 360 None [('preempted', 50), ('calls of MPI', 10)]|2 0 300 MPI_Recv f a.c:2 [('computing', 200), ('asleep', 100)]" \
    "$(causes late '"|".join(["%d %s %d %d %d" % (c["chains"][0]["late"], c["names"][c["chains"][0]["cause"]], c["chains"][0]["rank"], c["chains"][0]["because"], c["chains"][0]["first"])] + ["%d %d %d %s %s" % (l["rank"], l["from"], l["to"], l["waited"], [(c["names"][k], v) for k, v in l["parts"]]) for l in c["chains"][0]["links"]])')"
# 41 rounds of 370, of which 300 on rank 2, then 10 in rank 1's call, its interval of 50, and 10 of a barrier.
check "the critical path is a table, by interval" all \
    'says late "that determined the end of the run: *15\.2us"' \
    'is "MPI_Barrier f a.c:4 → MPI_Send f a.c:1 12000|MPI_Recv f a.c:2 → MPI_Barrier f a.c:4 2050|in MPI_Recv f a.c:2 410|in MPI_Barrier f a.c:4 410|start → MPI_Send f a.c:1 300" "$(in_page late "\"|\".join(\"%s %s\" % (r[0][\"text\"], r[1][\"data-v\"]) for r in d[\"tables\"][\"path\"][1:])")"' \
    'is "15170 12000" "$(in_page late "\"%d %d\" % (d[\"data\"][\"path\"][\"ns\"], d[\"data\"][\"path\"][\"steps\"][0][1])")"'
# The JSON has the same chains.
"$STAGGER" report --json late >late.json
check "the report's JSON has the chain as well" is \
    "415 1 300 MPI_Recv {'asleep': 100, 'computing': 200}" \
    "$(json late.json '(lambda c: "%d %d %d %s %s" % (c["late_ns"], c["links"][0]["rank"], c["links"][1]["until_ns"] - c["links"][1]["from_ns"], c["links"][1]["waited_in"]["mpi_function"], dict(sorted(c["links"][1]["spent_ns"].items()))))(d["causes"]["chains"][0])')"
check "without samples there are no causes, and without events no path" is "False True False" \
    "$(in_page waits '"causes" in d["data"]') $(in_page waits '"path" in d["data"]') $(in_page statistics '"path" in d["data"]')"
report_page many-late many-late
check "with 300 ranks, three share a column and the page is below 1 MB" all 'sound many-late' \
    'within 1 999999 "$(in_page many-late "d[\"bytes\"]")"' \
    'is "[0, 1, 2, 3, 4, 5, 6, 7] 3" "$(causes many-late "\"%s %d\" % (sorted({cell[0] for cell in c[\"by_rank\"]}), c[\"group\"])")"'

# ---- size --------------------------------------------------------------------------------------

report_page large large
check "a page with 300 ranks is sound" sound large
check "this page is below 1 MB" within 1 999999 "$(in_page large 'd["bytes"]')"
check "messages between all ranks are drawn in blocks of three" all 'calls_of large large' \
    'is "300 3 100 89700" "$(in_page large "\" \".join(str(d[\"data\"][\"messages\"][k]) for k in (\"ranks\", \"group\", \"blocks\", \"pairs\"))")"'
titles() { in_page "$1" '" ".join(c["text"] for c in d["tables"]["functions"][0][9:])'; }
check "a column that no function uses is omitted" is "received latency failed|received" \
    "$(titles calls)|$(titles large)"
check "with 640 call sites and 89700 pairs, the first 500 are shown" all \
    'is "501 501" "$(in_page large "\"%d %d\" % (len(d[\"tables\"][\"calls\"]), len(d[\"tables\"][\"pairs\"]))")"' \
    'says large "140 more call sites are omitted"' \
    'says large "89200 more pairs of ranks are omitted"'
check "ranks share the columns of a heat map" is "100 100" \
    "$(in_page large '"%d %d" % (len(d["data"]["sites"][0]["late"]), len(d["data"]["by_rank"]))')"
# At every seventh call site the rank of its number is 40 us late; reduces (7, 28) cost the root alone
# and are not among the worst.
check "the late rank is in the right column" is "[0, 14, 21, 35] [0, 14, 21, 35]" \
    "$(in_page large '"%s %s" % tuple(sorted(x) for x in zip(*((c[1], int(s["site"].split()[0][5:])) for s in d["data"]["sites"] for c in s["late"] if c[0] > 40000)))')"
report_page sites sites
check "with 10000 call sites, the first 500 are shown" all 'sound sites' \
    'is 501 "$(in_page sites "len(d[\"tables\"][\"sites\"])")"' \
    'says sites "9500 more rows, with .* of the time waited, are omitted"' \
    'within 1 999999 "$(in_page sites "d[\"bytes\"]")"'
"$STAGGER" report --html top.html --top 3 known
check "--top sets the number of rows" all 'parse top' 'is 4 "$(in_page top "len(d[\"tables\"][\"sites\"])")"'

# ---- the comparison ------------------------------------------------------------------------------

"$STAGGER" compare --html pair.html a b || echo "not ok - the comparison's page is written"
check "the comparison's page is sound" sound pair
check "the comparison says in words what differs" all \
    'says pair "Of 2 call sites in both runs, *2 differ between these two runs"' \
    'says pair "160us → 160us"'
check "... on top it shows the time waited before its share" \
    says pair "waiting for others, A and B *8\.00us → 3\.20us *−60\.0%; of all rank time *2\.5% → 1\.0%"
shorter() { "$PYTHON" - shorter.html <<'PY'
import re, sys
page = open(sys.argv[1]).read()
figures = re.search(r'<dl class="figures">(.*?)</dl>', page, re.S).group(1)
parts = re.findall(r"<div( class=.\w+.)?><dt>(.*?)</dt>", figures)
sys.exit(0 if parts[0][0] == ' class="good"' and parts[1][0] == ' class="good"' else repr(parts))
PY
}
"$STAGGER" compare --html shorter.html long long -- short short
check "a shorter run that loses less time is no worse, whatever its share" all shorter \
    'parse shorter' 'says shorter "20\.0us → 15\.0us *−25\.0%, less in B; of all rank time *2\.0% → 7\.5%"'
check "the comparison's table has the expected figures" is \
    "300 250 -50 -0.1666666667 -50|200 50 -150 -0.75 -150|300 250 -50 -0.1666666667 -50|125 100 -25 -0.2" \
    "$(in_page pair '"|".join(" ".join([r[i]["data-v"] for i in (5, 6, 7, 8)] + ([r[9]["data-low"]] if j < 3 else [])) for j, r in enumerate(d["tables"]["sites"][1:5]))')"
check "call sites that only one run has are listed" all 'says pair "Only in A"' \
    'says pair "\"quoted\" \(d.\.c:8\) \[cg\+0x4000\]"'
"$STAGGER" compare --html waiting.html waits waits
check "the comparison has wait states by kind and call site" all 'sound waiting' \
    'is "late sender MPI_Recv f a.c:10 1 50 50 0" "$(in_page waiting "\" \".join([d[\"tables\"][\"waits\"][1][i][\"text\"] for i in range(4)] + [d[\"tables\"][\"waits\"][1][i][\"data-v\"] for i in (4, 5, 6)])")"'
"$STAGGER" compare --html calling.html all-calls all-calls
check "the comparison has functions and call sites of all calls" all 'sound calling' \
    'is "$(in_page calls "[r[0][\"text\"] for r in d[\"tables\"][\"functions\"][1:]]")" "$(in_page calling "[r[0][\"text\"] for r in d[\"tables\"][\"functions\"][1:]]")"' \
    'in_page calling "len(d[\"tables\"][\"calls\"]) > 2 or exit(1)"'
"$STAGGER" compare --html alike.html statistics statistics
check "statistics are compared without intervals" all 'sound alike' \
    'says alike "A has no events: there are no intervals"'
"$STAGGER" compare --html apart.html a without-collectives
check "the comparison of runs with nothing in common says so" all 'sound apart' 'says apart "no call site in common"'

# ---- bad usage and bad input -----------------------------------------------------------------------

# refused STATUS REGEX ARGUMENT...: that exit status, one matching line, no page.
refused() {
    local expected=$1 regex=$2
    shift 2
    "$STAGGER" "$@" >refused.out 2>refused.err
    is "$expected" $? && empty refused.out && has refused.err "$regex" &&
        is 1 "$(grep -c '^stagger' refused.err)" && is "" "$(ls | grep '^out')"
}
check "--html with --json is bad usage" refused 2 "json cannot be combined with --html" report --html out.html --json known
check "... --html with --json is bad usage for compare, too" refused 2 "json cannot be combined with --html" compare --html out.html --json a b
check "a missing directory is refused" refused 1 "No such file" report --html out.html nowhere
check "a truncated archive gives no page" refused 1 "damaged events" report --html out.html cut
check "a page that cannot be written is refused" refused 1 "No such file" \
    report --html nowhere/out.html known
check "a full disk is reported in one line" all '! "$STAGGER" report --html /dev/full known 2>full.err' \
    'is 1 "$(grep -c ^stagger: full.err)"' '! "$STAGGER" compare --html /dev/full a b 2>full.err' \
    'has full.err "/dev/full: cannot be written"'
check "- writes to standard output" all '"$STAGGER" report --html - known >stdout.html' \
    'has stdout.html "^<!DOCTYPE html>"'

if command -v valgrind >/dev/null && ! grep -q __asan_init "$STAGGER"; then
    memory="valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
        --suppressions='$ROOT/tests/report/valgrind.supp'"
    check "valgrind finds nothing in a report's page" \
        bash -c "$memory '$STAGGER' report --html valgrind.html known"
    check "valgrind finds nothing in a comparison's page" \
        bash -c "$memory '$STAGGER' compare --html valgrind.html a b"
else
    skip "valgrind on pages" "no valgrind, or a sanitizer build"
fi
