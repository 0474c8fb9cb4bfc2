#!/bin/bash
# timeout: 7800
# An empty Debian 12: make demo runs to its end there, and what make check needs is installed and
# built. In the full check, make check whole.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/fresh/fresh.bash"
fresh bookworm "Debian 12"
