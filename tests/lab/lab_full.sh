#!/bin/bash
# timeout: 900
# The lab itself: output and exit statuses, and that a killed lab leaves nothing behind.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
LAB=$ROOT/tests/lab/lab
export TMPDIR=$WORK/tmp # the labs' directories
mkdir "$TMPDIR"

mkdir shared
"$LAB" -n 2 -t 360 -d shared -- 'echo "of $LAB_NODES"; echo "$PWD" >"$LAB_DIR/$LAB_NODE"
    exit $((LAB_NODE == 2 ? 3 : 0))' >out 2>err
status=$?
if [ "$status" -eq 77 ]; then
    skip "the lab runs commands on hosts" "$(tail -n 1 err)"
    exit 0
fi
check "the exit status is the failed host's" is 3 "$status"
check "each line of output names its host" \
    is "node1: of 2 node2: of 2" "$(paste -sd ' ' out)"
check "files in the hosts' shared directory stay" is "$WORK $WORK" "$(cat shared/1 shared/2 | paste -sd ' ')"
"$LAB" -n 1 -t 360 -- 'ls -A /root /root/.ssh' 2>err | sed 's/^node1: //' >out
check "hosts have the files of the machine's root, except its keys" \
    is "$({ ls -A /root; printf '%s\n' .ssh authorized_keys key known_hosts; } | sort -u)" \
    "$(sed '/:$/d; /^$/d' out | sort)"
check "a host's kernel survives patching code that its other processor runs" \
    is "patched 4000 times" "$("$LAB" -n 1 -c 2 -t 500 -- "$BUILD/lab/patches" 4000 2>&1 | sed 's/^node1: //')"
check "the lab leaves no other files" is "" "$(ls -A "$TMPDIR")"

timeout 30 "$LAB" -d "$WORK/none" -- true >out 2>err
check "a missing directory ends the lab before it begins" is 2 $?

"$LAB" -t 0 -- true >out 2>err
status=$?
check "a lab that runs out of time says so and has status 124" \
    all 'is 124 "$status"' 'has err "within 0 s"'

# Processes that hold a lab's directory, by number.
of_labs() { grep -lsa "$TMPDIR/stagger-la[b]-" /proc/[0-9]*/cmdline; } # and not this grep
there() {
    for ((i = 0; i < 300; i++)); do
        of_labs | grep -q . && return 0
        sleep 0.1
    done
    return 1
}
gone() {
    for ((i = 0; i < 300; i++)); do
        [ -n "$(of_labs)$(ls -A "$TMPDIR")" ] || return 0
        sleep 0.1
    done
    of_labs
    ls -A "$TMPDIR"
    return 1
}
for signal in TERM KILL; do
    "$LAB" -n 2 -- true >out 2>err &
    check "a lab starts its hosts and waits for SIG$signal" there
    kill -"$signal" $!
    wait $! 2>/dev/null
    check "a lab ended by SIG$signal leaves no host and no directory" gone
done
