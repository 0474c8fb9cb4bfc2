#!/bin/bash
# The archive's messages and requests of a real program, of every kind, and of a run that ended
# while a rank waited.
. "$(dirname "$0")/../lib/sh.sh"

# has_kinds NAME KIND...: the archive has events of these kinds.
has_kinds() {
    local name=$1 kind
    shift
    otf2-print "$name.trace/traces.otf2" >"$name.events" || return
    for kind in "$@"; do
        grep -q "^$kind " "$name.events" || { echo "no $kind"; return 1; }
    done
}

observe requests 2 "$PROGRAMS/known_requests"
if fails_alone "messages in parts obey the rules" 2 "$PROGRAMS/known_requests"; then
    rm -rf requests.trace
    observe requests 2 "$PROGRAMS/known_requests" whole
fi
check "messages and requests of every kind obey the rules" all 'ran_well requests' \
    'archive_sound requests.trace'
check "... the archive has all of them" has_kinds requests MPI_SEND MPI_RECV MPI_ISEND MPI_ISEND_COMPLETE \
    MPI_IRECV_REQUEST MPI_IRECV MPI_REQUEST_CANCELLED

observe ended 2 "$PROGRAMS/late_waits" abort
"$STAGGER" recover ended.trace >recover.out 2>&1
check "the archive of a run that ended during a wait obeys the rules" \
    archive_sound ended.trace
check "... this archive closes the wait" all 'has_kinds ended ENTER LEAVE' \
    'is "$(grep -c ^ENTER ended.events)" "$(grep -c ^LEAVE ended.events)"' \
    'has ended.events "^ENTER .*MPI_Sendrecv"'
