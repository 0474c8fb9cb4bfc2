#!/bin/bash
# timeout: 7800
# An empty Debian 13, which has MPICH 4.2: make demo and make check there.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/fresh/fresh.bash"
fresh trixie "Debian 13"
