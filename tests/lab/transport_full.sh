#!/bin/bash
# timeout: 1200
# The transport verbs under load: threads on one host, several processes per endpoint, multicasts
# along the tree, limits of locked memory, lost multicasts, lost peers.
# shellcheck disable=SC2016 # single quotes for what others expand
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lab/lab.bash"
lab_test "the transport verbs, at length" -n 2 -t 1100

mpi_run() { timeout --kill-after=5 "$PROGRAM_SECONDS" mpi "$@"; }
# traffic NAME HOSTS RANKS ARG...
traffic() {
    local name=$1
    shift
    mpi_run "$1" "$2" "$BUILD/lab/traffic" "${@:3}" >"$name.out" 2>"$name.err" || {
        cat "$name.out" "$name.err"
        return 1
    }
}
# multicasts NAME: the number received, over all ranks
multicasts() { awk '{ for (i = 1; i < NF; i++) if ($(i + 1) == "multicasts") sum += $i } END { print sum }' "$1.out"; }

# ---- the contract ------------------------------------------------------------------------------
for test in test_contract test_crowd; do
    for way in "" tree; do
        # shellcheck disable=SC2086 # no argument where there is no word
        mpi_run 1 1 "$BUILD/lab/$test" $way >contract.out 2>contract.err
        status=$?
        sed -n "s/^\(ok\|not ok\) - /&over verbs on one host${way:+, multicasts along the tree}: /p" \
            contract.out
        check "$test passes on one host${way:+, multicasts along the tree}" is 0 "$status"
    done
done

# ---- traffic -----------------------------------------------------------------------------------
check "two endpoints on each host receive all messages, once and whole" traffic four 2 2 1 100
check "an endpoint with two processes receives all messages, once and whole" traffic shared 2 2 2 100
check "each multicast reaches both processes of an endpoint, and is delivered once" \
    has shared.out ', [1-9][0-9]* repeats'
check "multicasts along the tree reach both processes, and are delivered once" traffic tree 2 2 1 100 tree
check "the tree uses no multicast of the network" lacks tree.out ', [1-9][0-9]* of them multicasts'

# ---- memory ------------------------------------------------------------------------------------
mpi_run 2 1 bash -c 'ulimit -l 64; exec setpriv --bounding-set=-ipc_lock "$0" locked' \
    "$BUILD/lab/agreement" >locked.out 2>locked.err
check "a limit of locked memory is reported in one line with the remedy" all "is 0 $?" \
    'has_lines locked.err "^stagger: " 1' \
    'has locked.err "RDMA is not used: [0-9]+ KiB cannot be registered: the process may lock 64 KiB; raise this limit \(ulimit -l unlimited\)$"'

# ---- lost multicasts ---------------------------------------------------------------------------
# lose ONE-IN: drops one in that many multicasts from the other host
both() { for node in 1 2; do on "$node" "$@" || return 1; done; }
lose() {
    both tc qdisc add dev rdma ingress &&
        both tc filter add dev rdma parent ffff: protocol ip u32 match ip dst 239.0.0.0/8 \
            action pass random netrand drop "$1"
}
gone() { both tc qdisc del dev rdma ingress; }
sent=400 # by two endpoints to each other, in bursts: some are lost without a filter, too
check "without a filter most multicasts arrive" all 'traffic none 2 1 1 200' \
    "within $((sent / 2)) $sent \"\$(multicasts none)\""
for share in 100 10 2; do
    lose "$share"
    check "with one packet of $share lost, all messages arrive, once and whole" \
        traffic "loss$share" 2 1 1 200
    gone
done
# A multicast of two packets is lost if either is, so the lost share exceeds that of packets.
check "with every other packet lost, fewer multicasts arrive" \
    within 20 $(($(multicasts none) * 3 / 4)) "$(multicasts loss2)"

# ---- lost peers --------------------------------------------------------------------------------
# The launcher's status is that of the killed rank.
mpi_run 2 1 -disable-auto-cleanup "$BUILD/lab/faults" killed >killed.out 2>killed.err
check "the fault names a killed peer" \
    has killed.out '^endpoint 1: transport retry counter exceeded$'

rm -f ready
mpi_run 2 1 -disable-auto-cleanup "$BUILD/lab/faults" cut >cut.out 2>cut.err &
program=$!
until [ -e ready ] || ! kill -0 "$program" 2>/dev/null; do sleep 0.1; done
on 2 ip link set rdma down
for ((i = 0; i < 900; i++)); do
    [ -s cut.out ] && break
    sleep 0.1
done
check "the fault names a peer with a pulled cable" has cut.out '^endpoint 1: transport retry counter exceeded$'
on 2 pkill faults
wait "$program" 2>/dev/null || : # the killed one's status
