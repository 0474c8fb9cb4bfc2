# Sourced after lab.bash and intranode.bash by the tests of collectives between the lab's hosts.
# shellcheck shell=bash
# shellcheck disable=SC2154 # the script that sources it sets what results.bash uses

MODES='poll thread signal'

# Replaces run_across of tests/internode/internode.bash: the nodes are hosts instead of virtual
# nodes. A thread replaces signals, and the library prints so: these lines are removed, and
# $stood_in has their number.
# run_across NAME MODE RANKS-PER-HOST RULES N PROGRAM ARG...
run_across() {
    local name=$1 mode=$2 each=$3 rules=$4 ranks=$5
    local line='^stagger: between machines a thread handles late messages instead of a signal handler'
    shift 5
    rm -rf "$name.trace"
    STAGGER_RULES=$rules STAGGER_PROGRESS=$mode lab_mpi "$name" $((ranks / each)) "$each" "$@"
    stood_in=$(grep -c "$line" "$name.err")
    [ "$mode" = signal ] && sed -i "/$line/d" "$name.err"
}

# Prints each rank's use of the transport, one line per communicator: ranks, connections, bytes
# registered, work requests, multicasts, retransmissions. Ordered by rank, then by communicator.
notes() {
    otf2-marker "$1.trace/traces.otf2" | sed -nE \
        's/.*verbs of a communicator of ([0-9]+) ranks: ([0-9]+) connections, ([0-9]+) bytes registered, ([0-9]+) work requests, ([0-9]+) multicasts, ([0-9]+) repeated.*/\1 \2 \3 \4 \5 \6/p'
}

# sum COLUMN NAME: over the notes
sum() { notes "$2" | awk -v column="$1" '{ sum += $column } END { print sum + 0 }'; }

# The communicators used RDMA rather than MPICH.
by_rdma() { lacks "$1.err" 'pass(es|ing)? through' && [ "$(notes "$1" | wc -l)" -gt 0 ]; }

# lose NODE N: drops one incoming multicast in N on the host; 0 stops dropping
lose() {
    on "$1" tc qdisc del dev rdma ingress 2>/dev/null
    [ "$2" -eq 0 ] && return
    on "$1" tc qdisc add dev rdma ingress
    on "$1" tc filter add dev rdma parent ffff: protocol ip u32 match ip dst 239.0.0.0/8 \
        action pass random netrand drop "$2"
}

# lost NODE: the number dropped so far
lost() { on "$1" tc -s filter show dev rdma parent ffff: | sed -nE 's/.*dropped ([0-9]+),.*/\1/p' | awk "{ sum += \$1 } END { print sum + 0 }"; }

# lossy HOSTS N CALLS: CALLS barriers on HOSTS hosts, the first of which loses one release in N.
lossy() {
    local missed
    lose 1 "$2"
    run_across lossy thread 1 '*=adaptive' "$1" "$PROGRAMS/repeat" barrier "$3"
    missed=$(lost 1)
    lose 1 0
    is 0 "$status" && ran_well lossy && by_rdma lossy && within 1 1000 "$missed" &&
        within 1 100000 "$(total lossy releases_repeated)"
}

# The program reports only that it ran, and so does the library.
no_fault() { has_lines "$1.err" '^stagger: ' 2; }

# simulated ALGORITHM OPERATION: requests of one call between two nodes in the simulator, by column
simulated() {
    local command=delay
    local options=(--op="$2" --late=0:0)
    [ "$2" = reduce ] && command=cpu options=(--skew-us=0)
    "$BUILD/stagger" sim "$command" "${options[@]}" --algo="$1" --nodes=2 --elements=1 --iterations=200 \
        --stats --csv | python3 -c '
import csv, sys
row = next(csv.DictReader(sys.stdin))
print(sum(float(row[kind]) for kind in "sends releases writes cell_writes fetch_adds reads".split()))'
}

# requests ALGORITHM OPERATION...: the requests of 200 calls of each operation on two hosts, each on
# its own communicator. The releases' time-out is long because an emulated host sometimes stalls.
requests() {
    local algorithm=$1 calls=200 rule=$1
    shift
    [ "$algorithm" = srm ] || rule+='(timeout=1000000)'
    run_across requests thread 1 "*=$rule;*=mpich" 2 "$PROGRAMS/repeat" "$(IFS=,; echo "$*")" "$calls"
    is 0 "$status" && ran_well requests && by_rdma requests || return
    # Skips an internal communicator of the library, which no call uses and which has no requests.
    notes requests | awk '$4 > 0' >requests.notes
    # The lines of a rank are in the order of its communicators.
    awk -v operations="$*" '{ sum[NR - 1] = $4 } END {
        count = split(operations, name, " ")
        for (i = 0; i < count; i++) print name[i + 1], sum[i] + sum[i + count]
    }' requests.notes >requests.sums
    is "$(($# * 2))" "$(wc -l <requests.notes)" || return
    while read -r operation posted; do
        least=$(simulated "$algorithm" "$operation") || return
        # The moves of adaptive's token depend on the order of arrival: at most one more.
        most=$least
        [ "$algorithm" = adaptive ] && least=2 most=3
        echo "$algorithm, $operation: $posted requests in $calls calls, simulated $least to $most a call"
        # The first call may set up connections. Shutdown of the communicator and heartbeats, about
        # one a second, add requests.
        awk -v posted="$posted" -v calls="$calls" -v least="$least" -v most="$most" \
            'BEGIN { exit !(posted >= (calls - 1) * least && posted <= calls * (most + 1.0 / 8)) }' || return
    done <requests.sums
}

# sites_agree RANKS-PER-HOST CALLS: ranks on two hosts reach each call from two call sites with
# rules of their own.
sites_agree() {
    local each=$1
    run_across sites thread "$each" "$(line_rules tree adaptive)" $((2 * each)) \
        "$PROGRAMS/disagree" sites "$2"
    is 0 "$status" && has sites.out finished && by_rdma sites && lacks sites.err 'do not apply' || return
    calls_of sites
    is "$((2 * each * $2))" "$(wc -l <sites.calls)" &&
        is "" "$(awk '($2 in ran) && ran[$2] != $5 { print } { ran[$2] = $5 }' sites.calls)" &&
        is "" "$(awk '$5 != "tree" && $5 != "adaptive" { print }' sites.calls)"
}

# The launcher may lose output written just before a job ends.
ends_saying() { # REGEX NAME COMMAND...
    local regex=$1 name=$2
    shift 2
    for _ in 1 2 3; do
        SECONDS=0
        "$@"
        grep -Eq "$regex" "$name.err" && break
        echo "# $name: ended with status $status after $SECONDS s, and said:"
        sed 's/^/#   /' "$name.err"
    done
    within 1 123 "$status" && has "$name.err" "$regex"
}
