/* Prints why ranks come late and what mends it (remedies.h). */
#ifndef SG_ADVISE_REMEDIES_PRINT_H
#define SG_ADVISE_REMEDIES_PRINT_H

#include "advise/remedies.h"

#include <jansson.h>
#include <stdio.h>

/* A paragraph; top: so many causes at most; 0: all. */
void sg_remedies_print(const struct sg_remedies *found, uint32_t top, FILE *out);

/* docs/advise-json.md; null where nothing is known. */
json_t *sg_remedies_json(const struct sg_remedies *found);

#endif
