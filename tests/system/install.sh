#!/bin/bash
# make install: the installed files work from any place, and uninstall leaves nothing.
. "$(dirname "$0")/../lib/sh.sh"

version=$(cat "$ROOT/VERSION")
install() { make -C "$ROOT" --no-print-directory B="$BUILD" "$@"; }

first=$WORK/first prefix=$WORK/moved
check "make install says where it puts what" all 'install PREFIX="$first" install >install.out' \
    'is "stagger $version is in $first: bin/stagger, bin/stagger-bench, lib/stagger; manual pages and completion in share" \
         "$(tail -n 2 install.out | head -n 1)"' 'is "try $first/bin/stagger info" "$(tail -n 1 install.out)"'
mv "$first" "$prefix"
check "the installed command, when moved, runs a program under the installed library" all \
    '"$prefix/bin/stagger" run -o run.trace -- timeout "$PROGRAM_SECONDS" "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9 \
         >run.out 2>run.err </dev/null' \
    'archive_agrees run.trace run.out'
check "its version is the project's" is "stagger $version" "$("$prefix/bin/stagger" --version)"
check "the simulator finds the networks" \
    "$prefix/bin/stagger" sim delay --network colony --nodes 2 --iterations 1
check "a command reached through a link finds them, too" all 'ln -s "$prefix/bin/stagger" linked' \
    './linked sim delay --network colony --nodes 2 --iterations 1' \
    'has <(./linked info) "libstagger.so: $prefix/lib/stagger/libstagger.so"'

if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH=$prefix/share/pkgconfig
    check "pkg-config has the version and the library's directory" all \
        'is "$version" "$(pkg-config --modversion stagger)"' \
        'is "$(realpath "$prefix/lib/stagger/libstagger.so")" \
             "$(realpath "$(pkg-config --variable=preload stagger)")"' \
        'is "" "$(pkg-config --cflags --libs stagger | tr -d " ")"'
else
    skip "pkg-config has the version and the library's directory" "pkg-config is not installed"
fi

if command -v cmake >/dev/null; then
    mkdir cmake && cat >cmake/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(user NONE)
enable_testing()
find_package(stagger ${WANTED} REQUIRED)
add_test(NAME preloaded COMMAND sh -c "grep -q $<SHELL_PATH:${stagger_LIBRARY}> /proc/self/maps && env")
stagger_test_environment(preloaded STAGGER_WAIT=yield)
add_test(NAME command COMMAND stagger::stagger --version)
add_test(NAME bench COMMAND stagger::bench --version)
CMAKE
    # configure WANTED: finds the installed library of that version
    configure() {
        rm -rf cmake/build
        cmake -S cmake -B cmake/build -DCMAKE_PREFIX_PATH="$prefix" -DWANTED="$1"
    }
    minor=${version%.*}
    check "CMake finds it, and runs tests under the library" all 'configure "$minor"'         '(cd cmake/build && ctest --verbose >ctest.out) || { cat cmake/build/ctest.out; return 1; }'         'has cmake/build/ctest.out "100% tests passed, 0 tests failed out of 3"'         'has cmake/build/ctest.out "STAGGER_TRACE=off" && has cmake/build/ctest.out "STAGGER_WAIT=yield"'         'has cmake/build/ctest.out "stagger $version"'
    check "CMake refuses a later version and an incompatible one" all         '! configure "$version.1" >cmake.out 2>&1' 'has cmake.out "version: $version"'         '! configure 99 >/dev/null 2>&1' 'configure "$version" >/dev/null'
    mv "$prefix/bin/stagger-bench" bench.away
    check "CMake finds no package when a part is missing" all '! configure "$minor" >cmake.out 2>&1'         'has cmake.out "stagger-bench is missing"'
    mv bench.away "$prefix/bin/stagger-bench"
else
    skip "CMake finds it, and runs tests under the library" "cmake is not installed"
fi

# Checks the environment after the module is loaded; modulecmd prints commands for the shell.
module_works() {
    (
        unset PKG_CONFIG_PATH "${!STAGGER_@}"
        modules=$(env MODULEPATH="$prefix/share/modulefiles" modulecmd bash load stagger) || return 1
        eval "$modules"
        is "$prefix/bin/stagger" "$(type -P stagger)" &&
            is "$prefix/share/pkgconfig" "$PKG_CONFIG_PATH" &&
            is "" "$(compgen -v | grep ^STAGGER_)" &&
            has <(MODULEPATH="$prefix/share/modulefiles" modulecmd bash avail -t 2>&1) "^stagger/$version" &&
            if command -v man >/dev/null; then is "$prefix/share/man/man1/stagger.1" "$(man -w stagger)"; fi
    )
}
if command -v modulecmd >/dev/null; then
    check "the environment module brings the commands and their pages" module_works
else
    skip "the environment module brings the commands and their pages" \
        "environment-modules is not installed"
fi

check "make uninstall leaves nothing of the installation" all \
    'mkdir -p "$prefix/share/man/man1" && touch "$prefix/share/man/man1/other.1"' \
    'install PREFIX="$prefix" uninstall' \
    'is "./share/man/man1/other.1" "$(cd "$prefix" && find . -type f)"' \
    'is "" "$(find "$prefix" -name "*stagger*")"'
blank="$WORK/with blank"
check "a PREFIX with a blank runs a program under its library, too" all \
    'install PREFIX="$blank" install >install.out' 'has install.out "^try .*with blank/bin/stagger. info$"' \
    '"$blank/bin/stagger" run -o blank.trace -- timeout "$PROGRAM_SECONDS" "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9 \
         >blank.out 2>blank.err </dev/null' \
    'archive_agrees blank.trace blank.out' 'install PREFIX="$blank" uninstall' 'absent "$blank/bin/stagger"'
check "DESTDIR precedes the paths and is in no file" all \
    'install PREFIX=/usr DESTDIR="$WORK/staged" install' \
    '[ -x "$WORK/staged/usr/bin/stagger" ]' \
    'is "" "$(grep -rlI "$WORK" "$WORK/staged")"'
check "the package has this version" has <(head -n 1 "$ROOT/debian/changelog") "^stagger \\($version\\) "
check "make help lists the targets" all 'make -C "$ROOT" --no-print-directory help >help.out' \
    'for target in deps all check demo install uninstall dist deb format lint clean bench; do
         has help.out "make $target " || return 1; done'
