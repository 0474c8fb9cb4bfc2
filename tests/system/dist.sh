#!/bin/bash
# The tarball is reproducible, anywhere and at any time; recipes and changelogs name this version.
. "$(dirname "$0")/../lib/sh.sh"

version=$(cat "$ROOT/VERSION")

# ---- the tarball -------------------------------------------------------------------------------------------

git clone -q "$ROOT" one 2>/dev/null && git clone -q "$ROOT" two 2>/dev/null || exit 1
# make_dist CLONE: prints the tarball's path
make_dist() { make -C "$1" --no-print-directory dist; }
check "make dist prints the tarball's path" is "$PWD/one/build/stagger-$version.tar.gz" "$(make_dist one)"
# In another time zone, with another umask and language, and files of another age.
find two -path two/.git -prune -o -type f -exec touch -d 2001-01-01 {} +
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 make_dist two >/dev/null)
check "two tarballs of a commit have the same bytes" cmp "one/build/stagger-$version.tar.gz" "two/build/stagger-$version.tar.gz"
tar -tvzf "one/build/stagger-$version.tar.gz" >list
check "it holds git's files below one directory" \
    same <(git -C "$ROOT" ls-tree -r --name-only HEAD | LC_ALL=C sort) \
    <(tar -tzf "one/build/stagger-$version.tar.gz" | grep -v '/$' | sed "s|^stagger-$version/||" | LC_ALL=C sort)
check "its files have no owner's name and git's modes" all 'is "0/0" "$(awk "{ print \$2 }" list | sort -u)"' \
    'is "-rw-r--r-- -rwxr-xr-x drwxr-xr-x" "$(awk "{ print \$1 }" list | grep -v ^l | LC_ALL=C sort -u | paste -sd" ")"'
echo >>one/README.md
check "uncommitted changes are not in the tarball" all '! make_dist one >changed.out 2>&1' \
    'has changed.out "^dist: there are changes that are not committed"'
check "a tarball builds without git" all 'mkdir source && tar -xzf "two/build/stagger-$version.tar.gz" -C source' \
    'env -u GIT_DIR GIT_CEILING_DIRECTORIES=$PWD make -C "source/stagger-$version" --no-print-directory -n all >make.out' \
    'has make.out "libstagger.so"'

# ---- versions ----------------------------------------------------------------------------------------------

check "the version is a semantic one" has "$ROOT/VERSION" '^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$'
check "the changes list this version, the newest first" \
    is "## $version" "$(grep -m 1 '^## ' "$ROOT/CHANGELOG.md")"

# ---- recipes -----------------------------------------------------------------------------------------------

check "Spack's recipe is Python and has this version" all \
    '"$PYTHON" -m py_compile "$ROOT/dist/spack/package.py"' "has '$ROOT/dist/spack/package.py' 'version\(\"$version\"'"
check "EasyBuild's recipe has this version and the paths of make install" \
    "$PYTHON" - "$ROOT/dist/easybuild" "$version" "$STAGGER" <<'PYTHON'
import glob, os, sys

recipes = glob.glob(f"{sys.argv[1]}/*.eb")
assert len(recipes) == 1, recipes
recipe = {"SOURCELOWER_TAR_GZ": "%(namelower)s-%(version)s.tar.gz", "SYSTEM": {"name": "system"}}
exec(compile(open(recipes[0]).read(), recipes[0], "exec"), recipe)
toolchain = recipe["toolchain"]
assert recipe["version"] == sys.argv[2], recipe["version"]
assert os.path.basename(recipes[0]) == f"stagger-{recipe['version']}-{toolchain['name']}-{toolchain['version']}.eb"
for key in ("easyblock", "name", "homepage", "description", "sources", "dependencies", "sanity_check_paths", "moduleclass"):
    assert recipe.get(key), key
PYTHON
make -C "$ROOT" --no-print-directory B="$BUILD" PREFIX=/p DESTDIR="$PWD/staged" install >/dev/null 2>&1
check "the files in EasyBuild's recipe are installed" all \
    'for file in $(sed -n "/sanity_check_paths/,/^}/p" "$ROOT"/dist/easybuild/*.eb | grep -o "'"'"'[a-z]*/[a-z0-9./-]*'"'"'" | tr -d "'"'"'"); do
         [ -e "staged/p/$file" ] || { echo "$file"; return 1; }; done'
rm -rf "$ROOT/dist/spack/__pycache__"
