/* Advice as rules for STAGGER_CONFIG, and the conflicts where one call site would need several
 * rules. */
#ifndef SG_ADVISE_RULES_H
#define SG_ADVISE_RULES_H

#include "advise/advice.h"

#include <stdio.h>

/* Turns advice that one rule cannot express into SG_ADVICE_CONFLICT; sg_advise calls it. False: no
 * memory, nothing has changed. */
bool sg_advice_find_conflicts(struct sg_advice *advice);

/* Prints the rules for STAGGER_CONFIG. Returns their number. */
uint32_t sg_advice_print_rules(const struct sg_advice *advice, FILE *out);

#endif
