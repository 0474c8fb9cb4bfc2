/* Finds why ranks come late, and what remedies it: rarely an algorithm, mostly the program or the
 * machine.
 *
 * With events the causes come from report/cause_table.h. Without them they come from what ranks do
 * longer before calls (report/between_calls_tables.h), which others need not wait for. Prints the
 * result as text and as JSON.
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
    SG_REMEDY_NONE,      /* the figures do not decide */
    SG_REMEDY_PROGRAM,   /* no algorithm helps */
    SG_REMEDY_ALGORITHM, /* another algorithm may help */
    SG_REMEDIES
};

/* Words of the JSON output: "program", ...; for SG_REMEDY_NONE "not told apart". */
extern const char *const sg_remedy_names[SG_REMEDIES];

/* A cause on a rank. The report owns the call sites that it points to. */
struct sg_remedy_row {
    const struct sg_waitstate_place *at; /* call site at which others wait */
    const struct sg_waitstate_place *after,
        *until; /* ends of its longest interval; function NULL: none */
    uint32_t rank;
    unsigned cause; /* enum sg_cause */
    double ns;
    /* Its mean interval divided by the median of the other ranks'; NAN: unknown. */
    double times;
    enum sg_remedy remedy;
    const char *advice; /* text of the advice */
};

struct sg_remedies {
    bool has_events; /* ns is the time others waited; otherwise the extra time of the intervals */
    double ns, of_ns[SG_REMEDIES];
    uint64_t instances;         /* sampled, with has_events */
    struct sg_remedy_row *rows; /* largest ns first; owned */
    uint32_t row_count;
};

/* Fills in *out, which refers to the report. row_count 0: nothing is known, or nobody was late.
 * SG_ERR_MEMORY (not logged). */
enum sg_status sg_remedies_find(const struct sg_report *report, struct sg_remedies *out);
void sg_remedies_clear(struct sg_remedies *found);

/* Prints a paragraph. top: the most causes to show; 0: all. */
void sg_remedies_print(const struct sg_remedies *found, uint32_t top, FILE *out);
/* The "lateness" object of docs/advise-json.md; null if nothing is known. */
json_t *sg_remedies_json(const struct sg_remedies *found);

#endif
