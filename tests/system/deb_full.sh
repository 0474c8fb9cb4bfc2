#!/bin/bash
# timeout: 2400
# The Debian package in this machine's own release.
. "$(dirname "$0")/../lib/sh.sh"
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
. "$ROOT/tests/system/deb.bash"
