#!/bin/bash
# Recognises other MPIs with MPICH's ABI by their exported symbols and serves them; refuses those
# with the ABI of MPI 5 in one line.
. "$(dirname "$0")/../lib/sh.sh"

mpich=$(ldd "$PROGRAMS/calls" | sed -n 's/.*\(libmpich\.so\.12\) => \([^ ]*\).*/\2/p')
[ -n "$mpich" ] || { skip "other MPIs are served" "the MPICH at hand is no libmpich.so.12"; exit 0; }
MPICC=$("$ROOT/.ci/find-mpi" cc) || exit 1
read -ra includes <<<"$("$MPICC" -show | tr ' ' '\n' | grep '^-I' | paste -sd' ')"

# ---- kin ---------------------------------------------------------------------------------------------------

"$PYTHON" "$ROOT/tests/intercept/make_kin.py" "$mpich" libkinly.so.12 || exit 1
# program NAME: a program of tests/mpi, linked to the other MPI
program() {
    "${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -g "${includes[@]}" -I"$ROOT/tests/mpi" "$ROOT/tests/mpi/$1.c" -o "$1" \
        "$PWD/libkinly.so.12" -Wl,-rpath,"$PWD" -pthread -ldl
}
check "programs link to a library with MPICH's ABI and another name" all 'program calls' 'program posts' \
    'has <(ldd ./calls) "$PWD/libkinly.so.12"' 'lacks <(ldd ./calls) libmpich.so'
compare calls 2 ./calls 50
observe calls 2 ./calls 50
check "under another MPI with MPICH's ABI the program runs under the library" all 'is 0 "$plain_status"' 'ran_well calls' \
    'archive_agrees calls.trace calls.out'
check "its version differs from MPICH's, and it has none of MPICH's extensions" all \
    'has <(strings -n 8 libkinly.so.12) "Kin.s version:"' 'lacks <(nm -D libkinly.so.12) " MPIX_"' 'has <(nm -D libkinly.so.12) " PKINX_Grequest_start"'
check "call sites are the program's" all '"$STAGGER" report --all calls.trace >calls.txt' 'has calls.txt "main calls.c:[0-9]+ "'
compare posts 2 ./posts mixed
STAGGER_RANKS_PER_NODE=1 STAGGER_RULES='*=adaptive;*=bypass' observe posts 2 ./posts mixed
check "collectives that need MPICH's extensions run in the library's own functions" all 'is 0 "$plain_status"' 'ran_well posts' \
    'is 2 "$(grep -o finished posts.out | wc -l)"'

# ---- the ABI of MPI 5 ----------------------------------------------------------------------------------------

# abi NAME MAJOR: builds a stand-in for a library that reports this ABI version
abi() { "${CC:-gcc}" -std=gnu11 "${includes[@]}" -DABI_MAJOR="$2" -fPIC -shared "$ROOT/tests/mpi/abi_library.c" -o "$1"; }
abi standard.so 1 && abi own.so -1 && abi libmpi_abi.so.0 -1 || exit 1
plain 2 "$PROGRAMS/calls" 50 >other.plain.out 2>&1
PRELOAD=$LIB:$PWD/standard.so
observe standard 2 "$PROGRAMS/calls" 50
check "a library with the ABI of MPI 5 is refused in one line" all 'is 0 "$status"' 'has_lines standard.err "" 1' \
    "has standard.err \"^stagger: this program's MPI is 'MPICH Version: +5.0.0' with MPI 5's ABI instead of MPICH's; stagger is inactive\$\"" \
    'absent standard.trace'
check "the program runs as without the library" same <(sort other.plain.out) <(sort standard.out)
PRELOAD=$LIB:$PWD/own.so
observe own 2 "$PROGRAMS/calls" 50
check "a library with its own ABI beside that of MPI 5 is served" all 'ran_well own' 'archive_agrees own.trace own.out'
