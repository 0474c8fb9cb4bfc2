#!/bin/bash
# The tarball is reproducible, anywhere and at any time; recipes and changelogs name this version.
. "$(dirname "$0")/../lib/sh.sh"

version=$(cat "$ROOT/VERSION")

# ---- the tarball -------------------------------------------------------------------------------------------

git clone -q "$ROOT" one 2>/dev/null && git clone -q "$ROOT" two 2>/dev/null || exit 1
# make_dist CLONE: prints the tarball's path
make_dist() { make -C "$1" --no-print-directory dist; }
check "make dist says where the tarball is" is "$PWD/one/build/stagger-$version.tar.gz" "$(make_dist one)"
# In another time zone, with another umask and language, and files of another age.
find two -path two/.git -prune -o -type f -exec touch -d 2001-01-01 {} +
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 make_dist two >/dev/null)
check "two of a commit are the same bytes" cmp "one/build/stagger-$version.tar.gz" "two/build/stagger-$version.tar.gz"
tar -tvzf "one/build/stagger-$version.tar.gz" >list
check "it holds what git knows, below one directory" \
    same <(git -C "$ROOT" ls-tree -r --name-only HEAD | LC_ALL=C sort) \
    <(tar -tzf "one/build/stagger-$version.tar.gz" | grep -v '/$' | sed "s|^stagger-$version/||" | LC_ALL=C sort)
check "nobody owns it, and modes are git's" all 'is "0/0" "$(awk "{ print \$2 }" list | sort -u)"' \
    'is "-rw-r--r-- -rwxr-xr-x drwxr-xr-x" "$(awk "{ print \$1 }" list | grep -v ^l | LC_ALL=C sort -u | paste -sd" ")"'
echo >>one/README.md
check "changes that are not committed are no tarball" all '! make_dist one >changed.out 2>&1' \
    'has changed.out "^dist: there are changes that are not committed"'
check "a tarball builds without git" all 'mkdir source && tar -xzf "two/build/stagger-$version.tar.gz" -C source' \
    'env -u GIT_DIR GIT_CEILING_DIRECTORIES=$PWD make -C "source/stagger-$version" --no-print-directory -n all >make.out' \
    'has make.out "libstagger.so"'

# ---- versions ----------------------------------------------------------------------------------------------

check "the version is a semantic one" has "$ROOT/VERSION" '^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$'
check "the changes tell of this version, the newest first" \
    is "## $version" "$(grep -m 1 '^## ' "$ROOT/CHANGELOG.md")"

# ---- recipes -----------------------------------------------------------------------------------------------

check "Spack's recipe is Python, and knows this version" all \
    '"$PYTHON" -m py_compile "$ROOT/dist/spack/package.py"' "has '$ROOT/dist/spack/package.py' 'version\(\"$version\"'"
check "what EasyBuild's recipe says is of this version, and where make install puts it" \
    "$PYTHON" - "$ROOT/dist/easybuild" "$version" "$STAGGER" <<'PYTHON'
import glob, os, sys

recipes = glob.glob(f"{sys.argv[1]}/*.eb")
assert len(recipes) == 1, recipes
recipe = {"SOURCELOWER_TAR_GZ": "%(namelower)s-%(version)s.tar.gz"}
exec(compile(open(recipes[0]).read(), recipes[0], "exec"), recipe)
toolchain = recipe["toolchain"]
assert recipe["version"] == sys.argv[2], recipe["version"]
assert os.path.basename(recipes[0]) == f"stagger-{recipe['version']}-{toolchain['name']}-{toolchain['version']}.eb"
for key in ("easyblock", "name", "homepage", "description", "sources", "dependencies", "sanity_check_paths", "moduleclass"):
    assert recipe.get(key), key
PYTHON
make -C "$ROOT" --no-print-directory B="$BUILD" PREFIX=/p DESTDIR="$PWD/staged" install >/dev/null 2>&1
check "the files that EasyBuild's recipe wants are installed" all \
    'for file in $(sed -n "/sanity_check_paths/,/^}/p" "$ROOT"/dist/easybuild/*.eb | grep -o "'"'"'[a-z]*/[a-z0-9./-]*'"'"'" | tr -d "'"'"'"); do
         [ -e "staged/p/$file" ] || { echo "$file"; return 1; }; done'
rm -rf "$ROOT/dist/spack/__pycache__"
