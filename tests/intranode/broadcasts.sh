#!/bin/bash
# Broadcasts within a node: bytes, types that differ between ranks, roots, forms, and ranks that
# disagree.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

program=$PROGRAMS/broadcasts

# by NAME: the algorithms that ran the nonempty calls on MPI_COMM_WORLD. (MPICH runs the first call
# on a communicator.)
by() { algorithms_of "$1" broadcast_form; }

# large_through NAME: the path of large broadcasts, by the number of copies that each rank made:
# with direct copies, each of 3 readers' buffers takes at most 4 blocks; through slots, 16 or more
large_through() {
    awk '$6 == "broadcast_bytes" && $4 >= 65536 && $5 == "srm" { print ($12 > 12 ? "slots" : "nothing") }' \
        "$1.calls" | sort -u | paste -sd ' '
}

for ranks in 1 2 3 4; do
    for form in auto flat chunks single; do
        [ "$form" = auto ] || [ "$ranks" = 3 ] || { in_full && [ "$ranks" -lt 4 ]; } || continue
        run_by results "srm(form=$form)" "$ranks" "$program" results
        check "srm of form $form gives the expected bytes ($ranks ranks)" gave results
        calls_of results
        [ "$ranks" -gt 1 ] && ours=srm || ours=mpich
        check "srm ran the calls (form $form, $ranks ranks)" all 'is $ours "$(by results)"' \
            'is mpich "$(algorithms_of results broadcast_nothing)"'
        [ "$ranks" -gt 1 ] || continue
        [[ $form = auto || $form = single ]] && through=nothing || through=slots
        check "... large ones go through $through (form $form, $ranks ranks)" \
            is "$through" "$(large_through results)"
    done
done
run_by results mpich 3 "$program" results
calls_of results
check "a rule leaves broadcasts to MPICH, which gives the expected bytes" all 'gave results' 'is mpich "$(by results)"'
STAGGER_RULES='bcast@broadcast_bytes=mpich;bcast@broadcast_form=srm' observe sites 3 "$program" results
calls_of sites
check "a rule applies to one call site" all 'gave sites' 'is srm "$(by sites)"' \
    'is mpich "$(algorithms_of sites broadcast_bytes)"'
STAGGER_BCAST=mpich observe short 2 "$program" results
calls_of short
check "the short variable applies to all call sites" all 'gave short' 'is mpich "$(by short)"' \
    'has short.trace/stagger.conf "^STAGGER_BCAST=mpich"'
run_by threads srm 3 "$program" threads
calls_of threads
check "threads broadcast at the same time, each on a communicator of its own" all 'gave threads' \
    'is srm "$(algorithms_of threads broadcast_bytes)"'
check "archives are sound" all 'archive_sound results.trace' 'archive_sound sites.trace'

STAGGER_SLOTS=8 observe ahead 3 "$program" ahead
check "a root returns from small broadcasts before the others have called" gave ahead


for what in bytes root operation; do
    until_printed wrong.err '^stagger: .* disagree' run_by wrong srm 3 "$program" wrong "$what"
    check "ranks that disagree end the job (another $what)" all 'within 1 123 "$status"' 'lacks wrong.out compared'
    check "... the message names both call sites" has wrong.err \
        '^stagger: .*MPI_(Bcast of (8|16) bytes from root [01]|Barrier) at disagree broadcasts\.c:[0-9]+ #.*MPI_(Bcast of (8|16) bytes from root [01]|Barrier) at disagree broadcasts\.c:[0-9]+ #'
done

exit $((failures > 0))
