#!/bin/bash
# make's detection and requirements: MPICH's tools and never another MPI's, and the names of missing
# packages.
. "$(dirname "$0")/../lib/sh.sh"

# A PATH with only the tools put into it and those that the scripts themselves need.
mkdir path
for name in bash sh grep dirname; do
    ln -s "$(type -P "$name")" path/
done
# Never through a link: those above lead to the system's own commands.
tool() {
    rm -f "path/$1"
    printf '#!/bin/sh\n%s\n' "$2" >"path/$1"
    chmod +x "path/$1"
}
find_mpi() { PATH=$WORK/path "$ROOT/.ci/find-mpi" "$@"; }

check "without any MPI none is found" all '! find_mpi cc' '! find_mpi exec'
tool mpicc 'echo "gcc -I/usr/lib/openmpi/include -lmpi"'
tool mpiexec 'echo "mpiexec (OpenRTE) 4.1.4"'
check "another MPI under the plain names is ignored" all '! find_mpi cc' '! find_mpi exec'
tool mpicc 'echo "gcc -I/usr/include/mpich -lmpich"'
tool mpiexec 'echo "HYDRA build details:"'
check "MPICH under the plain names is found" all 'is mpicc "$(find_mpi cc)"' \
    'is mpiexec "$(find_mpi exec)"'
tool mpicc 'echo "gcc -lmpi"'
tool mpicc.mpich 'echo "gcc -lmpich"'
check "MPICH under its own name comes first" is mpicc.mpich "$(find_mpi cc)"

check "when all packages are there, nothing is printed" \
    all '"$ROOT/.ci/deps" build test demo >deps.out 2>&1' 'empty deps.out'
tool id 'echo 1000'
PATH=$WORK/path "$ROOT/.ci/deps" build >deps.out 2>deps.err
status=$?
check "without root and sudo one line names the missing packages" all 'is 1 "$status"' \
    'empty deps.out' 'has_lines deps.err . 1' 'has deps.err "apt-get install .*libotf2-trace-dev"'

# Prints make's plan: with -n it still runs sub-makes, themselves with -n.
would() { make -C "$ROOT" --no-print-directory -n B="$WORK/none" "$@" 2>&1; }
own_jobs() { grep -c "^make .*-j$(nproc)" "$1"; }
for target in demo check-build bench soak lab papers; do
    would "$target" >"$target.out"
    would -j3 "$target" >"$target-j3.out"
    check "make $target builds on all processors, or with the caller's -j" all \
        'is 1 "$(own_jobs "$target.out")"' 'is 0 "$(own_jobs "$target-j3.out")"' \
        'lacks "$target-j3.out" "jobserver"'
done
check "make demo builds only the products and its own program, without the tests' packages" all \
    'has demo.out "mpi/cg\\b"' 'has demo.out "libstagger-otf2"' 'is 1 "$(grep -o "tests/[^ ]*\.c " demo.out | grep -vc "^tests/verify/")"' \
    'lacks demo.out "cunit|gfortran|mpif77|mpifort|mpicxx|-o [^ ]*/tests/([^v]|v[^e])"'
