#!/bin/bash
# The library's dependencies do not enter the application's symbol scope.
. "$(dirname "$0")/../lib/sh.sh"

compare exception 2 "$PROGRAMS/exception"
observe exception 2 "$PROGRAMS/exception"
check "C++ exceptions are thrown and caught under the library" ran_well exception
check "the unwinder's functions come from the same library as without stagger" \
    same <(sort exception.plain.out) <(sort exception.out)
check "the unwinder's functions come from libgcc" has_lines exception.out '^_Unwind_[A-Za-z]+ is in libgcc_s\.so' 4
