#!/bin/bash
# Messages in slices, as in p2p.sh: more ranks, nodes and parameters, and the order of matches.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/intranode/dying.bash"
. "$ROOT/tests/internode/internode.bash"
. "$ROOT/tests/internode/p2p.bash"

for each in '2 1' '3 2' '4 1' '4 2' '5 3'; do
    # shellcheck disable=SC2086
    set -- $each
    for parameters in slice=100 slice=250,restart=slice slice=500,strobe=always,microphases=separate,budget=4,degree=2; do
        check "messages work as without the library ($1 ranks, $2 a node, $parameters)" \
            as_without grid "p2p=bcs($parameters,progress=thread)" "$1" "$2" all
    done
done
check "programs with sends that wait for their receives end, with restarts at slice boundaries" \
    as_without waits 'p2p=bcs(slice=200,restart=slice,send=rendezvous,progress=thread)' 3 1 \
    sizes derived completed
check "messages in slices work beside collectives in slices" \
    as_without both "$CARRIED;*=bcs(slice=200,progress=thread)" 3 1 tags many beside

# orders: the order of senders received from, in a run in which all answer in one slice
orders() { run_across order thread 1 'p2p=bcs(slice=1000000,progress=thread)' 3 "$PROGRAMS/sliced" order && grep from order.out; }
same_order() {
    orders >first.order && is 6 "$(wc -l <first.order)" || return
    for _ in 1 2 3 4; do
        orders >next.order && same first.order next.order || return
    done
    is '1 1 1 2 2 2' "$(grep -o 'from [0-9]' first.order | cut -d ' ' -f 2 | xargs)"
}
check "receives from any source match by slice and rank, the same in five runs" same_order


check "nothing of the library is left in /dev/shm" no_shared_memory
