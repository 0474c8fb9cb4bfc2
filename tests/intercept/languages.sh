#!/bin/bash
# One program per language: it runs as without the library, and the archive has each call exactly
# once, by the program's own count.
. "$(dirname "$0")/../lib/sh.sh"

each_call_once() {
    local name=$1 language=$2
    shift 2
    compare "$name" 2 "$@"
    observe "$name" 2 "$@"
    check "a program in $language runs under the library" ran_well "$name"
    check "a program in $language prints the same as without it" \
        same <(sort "$name.plain.out") <(sort "$name.out")
    check "each call of a program in $language is in the archive once" \
        archive_agrees "$name.trace" "$name.out"
}

each_call_once c "C" "$PROGRAMS/counts_c"
each_call_once cxx "C++" "$PROGRAMS/counts_cxx"
each_call_once mpif "Fortran with mpif.h" "$PROGRAMS/counts_mpif"
each_call_once usempi "Fortran with use mpi" "$PROGRAMS/counts_usempi"
each_call_once f08 "Fortran with use mpi_f08" "$PROGRAMS/counts_f08"
each_call_once f08_thread "Fortran with use mpi_f08 and MPI_Init_thread" \
    "$PROGRAMS/counts_f08" thread

for ranks in 1 3; do
    observe "c$ranks" "$ranks" "$PROGRAMS/counts_c"
    check "the C program runs on $ranks rank(s)" ran_well "c$ranks"
    check "each of its calls on $ranks rank(s) is in the archive once" \
        archive_agrees "c$ranks.trace" "c$ranks.out"
done

compare abort 2 "$PROGRAMS/counts_f08" abort
until_printed abort.err '^stagger: .*MPI_Abort' observe abort 2 "$PROGRAMS/counts_f08" abort
check "MPI_Abort through mpi_f08 gives the same exit status as without the library" \
    all 'is 6 "$plain_status"' 'is 6 "$status"'
check "one line reports MPI_Abort, and how to make the archive" \
    has_lines abort.err '^stagger: .*MPI_Abort.*stagger recover' 1

# Fortran callers: MPICH's own frames lie between the wrapper and the program.
sources_of() {
    report_json "$1.trace" "$1.json" &&
        json "$1.json" 'sorted({str(s["file"]).split("/")[-1] for s in d["sites"]})'
}
check "sites of the mpif.h program are in its own source" \
    is "['counts_mpif.f']" "$(sources_of mpif)"
check "sites of the use mpi program are in its own source" \
    is "['counts_usempi.f90']" "$(sources_of usempi)"
check "sites of the mpi_f08 program are in its own source" \
    is "['counts_f08.f90']" "$(sources_of f08)"
check "mpi_f08 sites are as many as the calls in the program's text" is 6 "$(json f08.json 'len({s["id"] for s in d["sites"]})')"
