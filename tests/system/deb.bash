# Builds the Debian package here and installs it into an otherwise empty system: apt installs its
# dependencies, a program is observed there, and removal leaves nothing. Sourced after sh.sh, with
# $suite as the release.
# shellcheck shell=bash
. "$ROOT/tests/lib/root.bash"
title="the Debian package is installed in a clean $suite and works there"

reason=$(no_system dpkg-buildpackage dh lintian) && { skip "$title" "$reason"; exit 0; }
make_system "$suite" apt >reason || { skip "$title" "mmdebstrap makes no $suite: $(cat reason)"; exit 0; }

check "make deb builds it, and lintian reports nothing" "$ROOT/dist/deb" "$WORK/deb" || exit 1
deb=$(echo "$WORK"/deb/stagger_*.deb)
check "the package has the tree's version" is "$(cat "$ROOT/VERSION")" "$(dpkg-deb -f "$deb" Version)"
check "it depends on MPICH's library, OTF2, libdw and libunwind, and RDMA is optional" all \
    'for one in libmpich12 libopen-trace-format2 libdw1 libunwind8 libjansson4; do
         has <(dpkg-deb -f "$deb" Depends) "$one" || return 1; done' \
    'has <(dpkg-deb -f "$deb" Recommends) "mpich.*libibverbs1.*librdmacm1"' \
    'lacks <(dpkg-deb -f "$deb" Depends) "verbs|rdma"'

cp "$deb" "$PROGRAMS/calls" "$system/tmp"
apt() { inside 900 apt-get -q -y "$@"; }

apt update >update.out 2>&1
check "apt installs it with all dependencies" \
    apt install --no-install-recommends "/tmp/$(basename "$deb")" mpich
check "every packed file is there" is "" "$(inside 60 dpkg --verify stagger)"
check "manual pages and completion are in their standard places" inside 10 \
    ls /usr/share/man/man1/stagger-report.1.gz /usr/share/man/man7/libstagger.7.gz \
    /usr/share/bash-completion/completions/stagger /usr/share/zsh/vendor-completions/_stagger

inside 120 stagger run -o /tmp/run mpiexec.mpich -n 2 /tmp/calls 9 >run.out 2>run.err
check "a program runs there under the library, and its archive is right" all 'is 0 '$? \
    'archive_agrees "$system/tmp/run" run.out' 'has run.err "^stagger: .*(/tmp/run)"'
inside 60 stagger report /tmp/run >report.out 2>&1
check "the report names its call sites" has report.out 'allreduce .* calls'
check "stagger behind the launcher runs the program, too" all \
    'inside 120 mpiexec.mpich -n 2 stagger run -o /tmp/behind /tmp/calls 9' \
    'inside 60 stagger report --json /tmp/behind >behind.json' \
    '[ "$(json behind.json "len(d[\"sites\"])")" -gt 0 ]'
check "stagger finds the library, MPICH and the companions' libraries" all \
    'inside 60 stagger info >info.out' \
    'has info.out "libstagger.so: /usr/lib/stagger/libstagger.so"' \
    'has info.out "launcher: /usr/bin/mpiexec.mpich"' 'lacks info.out "not found|missing"'
check "the simulator finds the networks" inside 60 stagger sim delay --network qsnet --nodes 4 --iterations 1
check "stagger-bench measures on it" inside 120 mpiexec.mpich -n 2 stagger run -t off -- \
    stagger-bench latency --ops barrier --time 0.2

check "removal leaves nothing" all 'apt purge stagger' \
    'is "" "$(find "$system" -xdev -name "*stagger*" -not -path "$system/tmp/*" \
         -not -path "$system/var/cache/*" -not -path "$system/proc/*")"'
