#!/bin/bash
# A build without libibverbs still has the RDMA companion, which reports that.
. "$(dirname "$0")/../lib/sh.sh"

stub=$WORK/build/libstagger-verbs.so
check "the library builds without libibverbs" \
    make -C "$ROOT" --no-print-directory B="$WORK/build" HAVE_RDMA= "$stub"
check "the library then needs only the C library" is "" \
    "$(readelf -d "$stub" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v '^libc\.so')"
cp "$STAGGER" "$LIB" "$WORK/build"
"$WORK/build/stagger" info >info.out 2>info.err
check "stagger info says why there is no RDMA" all "is 0 $?" 'empty info.err' \
    'has info.out "^  verbs: not used: stagger was built without libibverbs and librdmacm$"'
rm "$stub"
"$WORK/build/stagger" info >gone.out 2>gone.err
check "stagger info says why when the companion is missing, too" all "is 0 $?" 'empty gone.err' \
    'has gone.out "^  verbs: not used: .*libstagger-verbs.so: cannot open shared object"'
