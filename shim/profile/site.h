/* Call sites: the application's frame that called MPI, as a stable id.
 *
 * The id is made of (build id or module name, offset in the module) of the return address, or of
 * the first STAGGER_DEPTH frames' : the same on every rank and in every run, whatever the address
 * space layout. Frames inside MPI libraries are skipped: MPICH's Fortran routines call the C ones.
 *
 * Fast path: a return address already known to lie in the application costs one look-up in a
 * table; only calls through MPI's own libraries, or a depth above 1, walk the stack. A site
 * seen for the first time takes a lock and may allocate.
 *
 * Thread-safe; never from a signal handler.
 */
#ifndef SG_PROFILE_SITE_H
#define SG_PROFILE_SITE_H

#include "core/operation.h"
#include "rule/rule.h"
#include "trace/record.h"

#include <stdatomic.h>
#include <stdint.h>

struct sg_site {
    struct sg_site *next;
    uint32_t index;           /* in this rank's log; 0: the site "unknown" */
    struct sg_rule_site rule; /* id, module, offset; names when rules need them */
    /* The choice for an operation where it is the same for all communicators and sizes. */
    _Atomic(const struct sg_choice *) fixed[SG_OPERATION_COUNT];
    _Atomic uint32_t left; /* calls there that are no collectives and have ended, with causes */
    /* The statistics entry used last for an operation: a first guess. */
    _Atomic(struct sg_record_stat *) last[SG_OPERATION_COUNT];
};

/* The site of the call whose wrapper was entered from return_address; never NULL. */
struct sg_site *sg_site_of(void *return_address);

/* Where a call site of any rank of this program is, as "FUNCTION FILE:LINE", for a message: looks
 * names up, which may take milliseconds. module: the base name, maybe cut from the left. False: not
 * known. */
bool sg_site_locate(uint32_t id, const char *module, uint64_t offset, char *text,
                    size_t text_bytes);

#endif
