# Shared by the scripts that work in a Debian system of their own, sourced after sh.sh. mmdebstrap
# creates it anew each time, from the package archives and with the proxy of this machine's apt
# configuration. Keeps only the downloaded packages, in build/chroot/archives.
# shellcheck shell=bash

# no_system PROGRAM...: prints why no system can be made, or fails if one can. It needs root,
# mmdebstrap, the programs and Debian's archives.
no_system() {
    local tool
    [ "$(id -u)" = 0 ] || { echo "needs root"; return; }
    for tool in mmdebstrap unshare "$@"; do
        command -v "$tool" >/dev/null || { echo "$tool is not installed"; return; }
    done
    unshare --mount --ipc --pid --fork true 2>/dev/null || { echo "needs namespaces (unshare)"; return; }
    [ -n "$(system_sources any)" ] || { echo "apt knows no archive of this Debian's packages"; return; }
    return 1
}

# system_sources SUITE: prints this machine's sources.list lines for its own release, changed to
# SUITE.
system_sources() {
    local own
    own=$(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME") || return
    # shellcheck disable=SC2016 # apt's variables
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        sed -n "s/^\(deb [^ ]* \)$own\(\(-updates\|-security\)\{0,1\} \)/\1$1\2/p" | sort -u
}

# make_system SUITE VARIANT [PACKAGES]: creates the system in $system, which is removed at exit. On
# failure prints the reason. $apt_says, if set, is extra apt configuration; $architecture is an
# architecture other than this machine's.
make_system() {
    local suite=$1 variant=$2 include=${3:-}
    archives=$ROOT/build/chroot/archives
    mkdir -p "$archives/partial" || return
    # Not in /tmp, which may be small and in memory. Removes the leftovers of killed runs first.
    for system in "$ROOT"/build/chroot/*-[0-9]*; do
        [ ! -d "$system" ] || kill -0 "${system##*-}" 2>/dev/null || rm -rf --one-file-system "$system"
    done
    system=$ROOT/build/chroot/$suite-$$
    mkdir "$system" || return
    at_exit+=("rm -rf --one-file-system '$system'")
    chmod 755 "$system"
    system_sources "$suite" >sources.list
    { apt-config dump | grep -E '^Acquire::https?::'; echo "${apt_says:-}"; } >apt.conf
    # Its mounts disappear with its namespace.
    # shellcheck disable=SC2016 # expanded by the hooks' shell
    ARCHIVES=$archives unshare --mount --pid --fork --kill-child \
        mmdebstrap --variant="$variant" ${architecture:+--architectures="$architecture"} \
        ${include:+--include="$include"} --aptopt="$WORK/apt.conf" \
        --skip=download/empty,essential/unlink,cleanup/apt/cache \
        --setup-hook='mkdir -p "$1/var/cache/apt/archives" &&
            mount --bind "$ARCHIVES" "$1/var/cache/apt/archives"' \
        "$suite" "$system" "$WORK/sources.list" >mmdebstrap.out 2>&1 &&
        # As on every machine: without this line OTF2 asks the network for the host name, once per
        # archive.
        printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(uname -n)" >"$system/etc/hosts" && return
    grep '^E:' mmdebstrap.out | tail -n 1
    return 1
}

# keep_system NAME SUITE VARIANT PACKAGES: the system in $system, kept in build/chroot/NAME; the
# first caller with these packages creates it.
keep_system() {
    local name=$1 wanted="$2 $3 $4" kept=$ROOT/build/chroot/$1
    shift
    if [ "$wanted" != "$(cat "$kept.made" 2>/dev/null)" ]; then
        make_system "$@" || return
        rm -rf --one-file-system "$kept" && mv "$system" "$kept" && echo "$wanted" >"$kept.made" || return
    fi
    archives=$ROOT/build/chroot/archives
    system=$kept
}

# inside SECONDS COMMAND...: runs it in the system, as root with an empty environment, in its own
# process, IPC and mount namespaces; remaining processes are killed at the end. $tree, if set, is
# mounted at its own path.
inside() {
    local seconds=$1 name proxies=()
    shift
    for name in http_proxy https_proxy no_proxy; do
        [ -z "${!name:-}" ] || proxies+=("$name=${!name}")
    done
    # The shell stays: the first process of a namespace must reap orphans.
    # shellcheck disable=SC2016 # expanded by the inner shell
    timeout --kill-after=5 "$seconds" unshare --mount --ipc --pid --fork --kill-child sh -c '
        mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" &&
            mount -t tmpfs tmpfs "$0/dev/shm" && mount --bind "$1" "$0/var/cache/apt/archives" &&
            { [ -z "$2" ] || { mkdir -p "$0$2" && mount --bind "$2" "$0$2"; }; } || exit
        shift 2
        chroot "$0" "$@"
        exit $?' "$system" "$archives" "${tree:-}" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/root DEBIAN_FRONTEND=noninteractive PYTHONDONTWRITEBYTECODE=1 \
        "${proxies[@]+"${proxies[@]}"}" "$@" </dev/null
}
