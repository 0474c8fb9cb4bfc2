#!/bin/bash
# Communicators that are created and freed, intercommunicators, and wrong arguments.
. "$(dirname "$0")/../lib/sh.sh"

observe comms 2 "$PROGRAMS/comms"
check "a program with communicators that reuse handles runs under the library" ran_well comms
check "the archive has its calls once, and none of attribute callbacks" \
    archive_agrees comms.trace comms.out
report_json comms.trace comms.json
check "a communicator has the name that the program gave it" \
    is "True" "$(json comms.json 'any(s["comm"] == "named 31" for s in d["sites"])')"
check "sizes of the communicators are right" \
    is "{1, 2}" "$(json comms.json '{s["comm_size"] for s in d["sites"]}')"

observe intercomm 3 "$PROGRAMS/intercomm"
check "collectives of an intercommunicator reach MPICH" ran_well intercomm
check "collectives of an intercommunicator are not in the archive" archive_agrees intercomm.trace intercomm.out

compare errors 2 "$PROGRAMS/errors"
observe errors 2 "$PROGRAMS/errors"
check "wrong arguments give MPICH's error classes, and nobody waits" \
    same <(sort errors.plain.out) <(sort errors.out)
if ! fails_alone "the program with wrong arguments runs to its end" 2 "$PROGRAMS/errors"; then
    check "the program with wrong arguments runs to its end" ran_well errors
    check "no instance in the archive has failed calls" \
        archive_agrees errors.trace errors.out
fi
