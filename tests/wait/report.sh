#!/bin/bash
# The report's figures on waiting: how often ranks yielded and slept, and whether there were fewer
# processors than ranks, by the affinity masks or by a control group's quota.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lib/groups.bash"

# waited NAME N ARGUMENT...: runs the program, whose last rank is late; its report is in NAME.txt
# and NAME.json. $UNDER may hold a command prefix.
UNDER=
waited() {
    local name=$1 ranks=$2
    shift 2
    STAGGER_DIR=$WORK/$name.trace timeout --kill-after=5 "$PROGRAM_SECONDS" $UNDER "$MPIEXEC" \
        -genv LD_PRELOAD "$PRELOAD" -n "$ranks" "$PROGRAMS/late_sender" "$@" >"$name.out" \
        2>"$name.err" </dev/null
    status=$?
    [ -e "$name.trace/traces.otf2" ] || [ "${STAGGER_TRACE:-}" = stats ] ||
        "$STAGGER" recover "$name.trace" >"$name.recover" 2>&1
    "$STAGGER" report --all "$name.trace" >"$name.txt"
    report_json "$name.trace" "$name.json"
}
# of NAME FIELD: the field from the JSON's figures on waiting
of() { json "$1.json" "d['waiting']$2"; }
more() { within 1 9000000000000000000 "$1"; }
reason=$(STAGGER_TRACE=off "$STAGGER" info | sed -n 's/^  waiting: //p')
case $reason in
    hook*) hook=$(echo "$reason" | sed 's/^hook \([a-z]*\),.*/\1/') ;;
    *) hook=None ;;
esac

STAGGER_WAIT=spin waited spin 2 100
check "ranks that spin neither yield nor sleep" all 'is 0 "$status"' 'is spin "$(of spin "[\"mode\"]")"' \
    'is "0 0 0 0" "$(json spin.json "\"%d %d %d %d\" % tuple(d[\"waiting\"][n] for n in (\"yields\", \"yield_ns\", \"sleeps\", \"sleep_ns\"))")"' \
    'has spin.txt "^  waiting               spun$"'

if [ "$hook" != None ]; then
    STAGGER_WAIT=yield waited yield 4 100 yields
    check "ranks set to yield do so, and never sleep" all 'is 0 "$status"' 'is yield "$(of yield "[\"mode\"]")"' \
        'is 0 "$(of yield "[\"sleeps\"]")"' 'is "$hook" "$(of yield "[\"hook\"]")"' 'more "$(of yield "[\"yields\"]")"' 'more "$(of yield "[\"yield_ns\"]")"' \
        'is 4 "$(of yield "[\"ranks\"]")"'
    STAGGER_WAIT=sleep waited sleep 4 100 sleeps
    check "ranks set to sleep do so in a long wait" all 'is 0 "$status"' \
        'is sleep "$(of sleep "[\"mode\"]")"' 'more "$(of sleep "[\"sleeps\"]")"' 'more "$(of sleep "[\"sleep_ns\"]")"' \
        'has sleep.txt "^  waiting               yielded .*s and slept .*s a rank, .*% and .*% of the run$"'
    STAGGER_TRACE=stats STAGGER_WAIT=sleep waited stats 4 100 sleeps
    check "statistics have yields and sleeps, too" all 'is 0 "$status"' 'is statistics "$(json stats.json "d[\"source\"]")"' \
        'more "$(of stats "[\"sleeps\"]")"'
    STAGGER_WAIT=sleep waited abort 2 100 sleeps abort
    check "after MPI_Abort the log has the sleeps" all 'has abort.txt PARTIAL' 'more "$(of abort "[\"sleeps\"]")"'
    STAGGER_WAIT_HOOK=none STAGGER_WAIT=sleep waited hookless 2 100
    check "without a hook the report names none" all 'is 0 "$status"' 'is None "$(of hookless "[\"hook\"]")"'
    STAGGER_WAIT=sleep waited kill 2 100 sleeps kill
    check "after a kill the report has the figures of an earlier call" all 'has kill.txt PARTIAL' \
        'is sleep "$(of kill "[\"mode\"]")"' 'is 2 "$(of kill "[\"machine\"][\"ranks\"]")"' \
        'more "$(of kill "[\"sleeps\"]")"'
else
    skip "the report counts yields and sleeps" "no hook serves for this MPICH"
fi

# ---- fewer processors than ranks ----------------------------------------------------------------------

processors=$(nproc)
UNDER="taskset -c $(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')" waited masked 2 10
check "a report names too few processors" all 'is 0 "$status"' \
    'has masked.txt "^  oversubscribed        2 ranks on 1 processor: waiting ranks yielded"' \
    'is 2 "$(of masked "[\"oversubscribed_ranks\"]")"' 'is 1 "$(of masked "[\"machine\"][\"processors\"]")"'
check "the page names them" all '"$STAGGER" report --html masked.html masked.trace' \
    'has masked.html "<li><b>oversubscribed</b> 2 ranks on 1 processor: .*<br>to see stock: <code>STAGGER_WAIT=spin</code> <code>"'
waited more $((processors + 1)) 10
check "one rank more than processors is too many" all 'is 0 "$status"' \
    'has more.txt "^  oversubscribed        $((processors + 1)) ranks on (a quota of )?[0-9]+ processors?: waiting"'
waited enough 2 10
if [ "$processors" -ge 2 ] && [ "$(of enough '["machine"]["quota"]')" = None ]; then
    check "the report names none when every rank has a processor" all 'is 0 "$status"' 'lacks enough.txt oversubscribed' \
        'is 0 "$(of enough "[\"oversubscribed_ranks\"]")"' 'is $processors "$(of enough "[\"machine\"][\"processors\"]")"'
else
    skip "the report names none when every rank has a processor" "there are not two processors"
fi

# limited NAME SENTENCE: a run of four ranks by the command $UNDER, which has a quota of one processor
limited() {
    waited "$1" 4 10
    UNDER=
    check "$2" all 'is 0 "$status"' \
        "has $1.txt '^  oversubscribed        4 ranks on a quota of 1 processor: waiting'" \
        "is 1 \"\$(of $1 '[\"machine\"][\"quota\"]')\"" "is 4 \"\$(of $1 '[\"oversubscribed_ranks\"]')\""
}
cat >grouped <<'END'
#!/bin/sh
echo $$ >"$GROUP/cgroup.procs" && exec "$@"
END
cat >seeing <<'END'
#!/bin/bash
. "$ROOT/tests/lib/groups.bash" && seeing_quota 100000 100000 "$@"
END
chmod +x grouped seeing
export ROOT
for version in 1 2; do
    about="a report names the quota of a control group of version $version that is too small"
    file=cpu.max quota='100000 100000'
    [ $version = 2 ] || file=cpu.cfs_quota_us quota=100000
    if [ "$processors" -lt 2 ]; then
        skip "$about" "there is one processor"
    elif ! make_group $version cpu "$file"; then
        skip "$about" "no such group can be made here"
    else
        [ $version = 2 ] || echo 100000 >"$group/cpu.cfs_period_us"
        echo "$quota" >"$group/$file"
        export GROUP=$group
        UNDER=./grouped limited "quota$version" "$about"
    fi
done
if [ "$processors" -ge 2 ] && ./seeing true 2>seeing.why; then
    UNDER=./seeing limited seen "a report names the quota that a container of version 2 shows as its own"
else
    skip "a report names a container's quota" "nothing can be mounted here: $(tail -n 1 seeing.why)"
fi

# ---- the hooks ------------------------------------------------------------------------------------------

check "stagger info lists the library's hooks" is \
    "$(sed -n 's/^const struct sg_hook sg_hook_[a-z0-9_]* = {"\([a-z0-9]*\)".*/\1/p' "$ROOT"/shim/wait/*.c | sort)" \
    "$("$STAGGER" info | sed -n 's/^  hooks that the library has: //p' | tr ' ' '\n' | sort)"
