/* Why ranks come late, and what mends it: mostly no algorithm, but the program or the machine.
 *
 * From the causes that events tell (report/cause_table.h); without them from what ranks do longer
 * before calls (report/between_calls_tables.h), which others may not wait for.
 */
#ifndef SG_ADVISE_REMEDIES_H
#define SG_ADVISE_REMEDIES_H

#include "core/status.h"
#include "report/report.h"
#include "report/wait_sums.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum sg_remedy {
    SG_REMEDY_NONE,      /* the figures do not tell */
    SG_REMEDY_PROGRAM,   /* no algorithm mends it */
    SG_REMEDY_ALGORITHM, /* another algorithm may */
    SG_REMEDIES
};

/* "program", ...: for JSON; of SG_REMEDY_NONE "not told apart". */
extern const char *const sg_remedy_names[SG_REMEDIES];

/* A cause on a rank. Places are the report's. */
struct sg_remedy_row {
    const struct sg_waitstate_place *at;            /* where others wait */
    const struct sg_waitstate_place *after, *until; /* its longest interval; function NULL: none */
    uint32_t rank;
    unsigned cause; /* enum sg_cause */
    double ns;
    /* Its mean interval there by the median of the other ranks'; NAN: not known. */
    double times;
    enum sg_remedy remedy;
    const char *advice; /* what to do */
};

struct sg_remedies {
    bool has_events; /* others waited so long; without: it takes so much longer */
    double ns, of_ns[SG_REMEDIES];
    uint64_t instances;         /* where has_events */
    struct sg_remedy_row *rows; /* the greatest first; owned */
    uint32_t row_count;
};

/* The report outlives it. row_count 0: nothing is known, or nobody was late. SG_ERR_MEMORY, not
 * logged. */
enum sg_status sg_remedies_find(const struct sg_report *report, struct sg_remedies *out);
void sg_remedies_clear(struct sg_remedies *found);

/* Prints why ranks come late and what mends it (remedies.h). */

/* A paragraph; top: so many causes at most; 0: all. */
void sg_remedies_print(const struct sg_remedies *found, uint32_t top, FILE *out);
/* docs/advise-json.md; null where nothing is known. */
json_t *sg_remedies_json(const struct sg_remedies *found);

#endif
