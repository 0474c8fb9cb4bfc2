#!/bin/bash
# timeout: 2400
# The same Debian package in Debian 13, which has MPICH 4.2.
. "$(dirname "$0")/../lib/sh.sh"
suite=trixie
. "$ROOT/tests/system/deb.bash"
