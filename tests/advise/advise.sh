#!/bin/bash
# stagger advise as users run it: golden outputs of runs with scripted arrivals, options, bad input,
# and a real run that is advised and then repeated with the advised rules. STAGGER_GOLDEN=1 rewrites
# the golden files.
golden_update=${STAGGER_GOLDEN:-}
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=advise
. "$ROOT/tests/report/golden.bash"

fixtures advise/make_planted report/make_archive report/make_large
for kind in pair late-rank late-root odd-names one-rank partial missed; do
    ./make_planted "$kind" "$kind" || exit 1
done
for kind in foreign without-events without-collectives statistics unrecovered; do
    case "$kind" in statistics | unrecovered) mkdir "$kind" ;; esac
    ./make_archive "$kind" "$kind" || exit 1
done

# advised NAME ARGUMENT...: writes NAME.txt and NAME.conf; stderr must be empty.
advised() {
    local name=$1
    shift
    "$STAGGER" advise --top 0 -o "$name.conf" "$@" >"$name.txt" 2>"$name.err" && empty "$name.err"
}

# taken FILE: STAGGER_CONFIG accepts every line of rules.
taken() {
    STAGGER_CONFIG=$1 "$STAGGER" info >taken.out 2>taken.err && empty taken.err
}

# ---- outputs -------------------------------------------------------------------------------------

check "the text of an advice is the golden one" golden pair.txt pair
check "the text of an advice on several machines is the golden one" golden late-root.txt late-root
check "the JSON is the golden one" golden pair.json --json pair
check "the rules are the golden ones" golden pair.conf pair -o -
check "advise writes the same file of rules by default, and STAGGER_CONFIG accepts it" all 'advised pair pair' \
    'same pair.conf "$GOLDEN/pair.conf"' 'taken pair.conf' \
    'has pair.txt "^1 rule in pair.conf; use them with STAGGER_CONFIG=pair.conf$"' \
    'has taken.out "^barrier@0000000a~2-2=srm"'
check "--network FILE takes another machine's costs" all 'advised qsnet --network qsnet pair' \
    'has qsnet.txt "^costs: of the network qsnet$"'
check "a run that cannot be read leaves an existing output file unchanged" \
    all 'echo mine >mine.conf' '! "$STAGGER" advise -o mine.conf nowhere 2>mine.err' \
    'has mine.conf "^mine$"'
printf 'STAGGER_PROGRESS=poll\n' >late-rank/stagger.conf
check "advise uses the run's own settings" all 'advised late late-rank' \
    'has late.conf "^barrier~8=adaptive$"' 'taken late.conf'

# ---- input of all kinds --------------------------------------------------------------------------

check "names with unusual bytes stay in their lines" all 'advised odd odd-names' 'taken odd.conf' \
    'is 1 "$(grep -vc "^#\|^$" odd.conf)"' 'has odd.conf "^barrier@0000000c~2=srm$"' \
    'lacks odd.txt "[[:cntrl:]]"' '"$STAGGER" advise --json odd-names >odd.json' \
    'json odd.json "d[\"groups\"][0][\"site\"][\"function\"]" >/dev/null'
check "another tool's archive is treated as MPICH's" all 'advised foreign foreign' \
    'has foreign.txt "its archive has no calibration"' 'taken foreign.conf'
check "the advice on a partial run says so" all 'advised partial partial' 'has partial.txt "PARTIAL"'
check "stagger takes the trial that advise prints if the model misses" all 'advised missed missed' \
    '"$STAGGER" advise --json missed >missed.json' \
    'has missed.txt "STAGGER_TRIAL=.$(json missed.json "d[\"groups\"][0][\"trial\"].replace(\"|\", \"[|]\")").$"' \
    'STAGGER_TRIAL=$(json missed.json "d[\"groups\"][0][\"trial\"]") "$STAGGER" info >taken.out 2>taken.err' \
    'empty taken.err' 'has taken.out "STAGGER_TRIAL=barrier@0000000a~2=mpich[|]srm "' 'has missed.conf "nothing to advise"'
check "a single rank waits for nobody" all 'advised one one-rank' \
    'has one.txt "no advice: a single rank waits for no one"' 'has one.conf "nothing to advise"'
check "without collectives there is nothing to replay" all 'advised none without-collectives' \
    'has none.txt "no barriers, reduces, allreduces or broadcasts"' 'has none.conf "nothing to advise"'
check "a run with statistics only has no arrivals to replay" all 'advised statistics statistics' \
    'has statistics.txt "only statistics: no arrivals to replay"'
./make_large 2 100000 10000 many || exit 1
check "with 10000 call sites, advise replays those that cost most" all 'advised many many' \
    'has many.txt "^10000 groups of instances"' 'has many.txt "left out 9000"' 'taken many.conf'

check "an archive without events is refused" refused 1 "without events" without-events
check "a run without its archive is refused" refused 1 "stagger recover" unrecovered
check "a missing directory is refused" refused 1 "nowhere: No such file" nowhere
check "an empty directory is refused" refused 1 "neither traces.otf2 nor" "$(mktemp -d -p .)"
check "an unknown network is refused" refused 1 "advise: no network 'nonsense'; there are: 200g" --network nonsense pair
check "two runs are bad usage" refused 2 "unexpected argument 'pair'" pair pair
check "an unknown option is bad usage" refused 2 "unrecognized option '--nonsense'" --nonsense pair
check "an invalid number is bad usage" refused 2 "--top wants a number" --top x pair
check "a full disk is an error" all '! "$STAGGER" advise pair >/dev/full 2>full.err' \
    'is "stagger: the output cannot be written: No space left on device" "$(cat full.err)"' '! "$STAGGER" advise pair -o /dev/full >/dev/null 2>full.err' \
    'has full.err "/dev/full: cannot be written"'

# ---- a real run ----------------------------------------------------------------------------------

CALL='[s for s in d["sites"] if s["function"] == "sum_up"][0]'

# Rank 2 of 4 waits 60 ms for rank 3 in MPICH's tree. On a busy machine the measurement may have no
# explanation.
run_advised() {
    rm -rf real.trace
    STAGGER_REDUCE=mpich observe real 4 "$PROGRAMS/advised" 60 12
    ran_well real && advised real real.trace && has real.conf '^reduce@' && return
    cat real.txt
    return 1
}
check "a reduce that waits before the collective gets different advice" one_of_five run_advised
check "the costs are those of the machine" \
    has real.txt "^costs: measured on the run's machine when it began"
STAGGER_CONFIG=$WORK/real.conf observe ruled 4 "$PROGRAMS/advised" 60 12
check "ranks run by the rules that advise writes" all 'ran_well ruled' \
    'report_json ruled.trace ruled.json' \
    'is "$(sed -n "s/^reduce@.*=\([a-z]*\).*/\1/p" real.conf)" \
        "$(json ruled.json "$CALL[\"algorithm\"]")"'
"$STAGGER" advise --json real.trace >real.json
"$PYTHON" - real.json ruled.json <<'PYTHON'
import json, sys
advice, ruled = (json.load(open(name)) for name in sys.argv[1:])
group = advice["groups"][0]
site = [s for s in ruled["sites"] if s["function"] == "sum_up"][0]
estimate = [e for e in group["estimates"] if e["algorithm"] == group["advice"]][0]["blocked_ns"]
measured = site["blocked_ns"] / site["calls"]
print(f"# {group['advice']}: blocked {estimate / 1e3:.0f} us a call estimated, "
      f"{measured / 1e3:.0f} measured: {100 * (measured / estimate - 1):+.0f} %")
PYTHON

STAGGER_CALIBRATE=0 observe without 2 "$PROGRAMS/calls" 3
check "without calibration there are no costs of the machine" all 'ran_well without' 'advised without without.trace' \
    'has without.txt "its archive has no calibration"' \
    'lacks <(otf2-print -I without.trace/traces.otf2) STAGGER::CALIBRATION'
STAGGER_TRACE=stats observe stats 2 "$PROGRAMS/calls" 3
check "a run with statistics only needs no calibration" ran_well stats

if command -v valgrind >/dev/null && ! grep -q __asan_init "$STAGGER"; then
    check "valgrind finds nothing in an advice" \
        bash -c "valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite \
            --suppressions='$ROOT/tests/report/valgrind.supp' '$STAGGER' advise late-root -o v.conf \
            >/dev/null"
else
    skip "valgrind on an advice" "no valgrind, or a sanitizer build"
fi
