#!/bin/bash
# timeout: 7800
# An empty Debian 12: make demo runs to its end, and the dependencies of make check are installed
# and built. The full check runs all of make check.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/fresh/fresh.bash"
fresh bookworm "Debian 12"
