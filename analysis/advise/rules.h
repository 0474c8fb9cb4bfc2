/* Advice as rules for STAGGER_CONFIG, and where one rule would hold for what needs several. */
#ifndef SG_ADVISE_RULES_H
#define SG_ADVISE_RULES_H

#include "advise/advice.h"

#include <stdio.h>

/* Turns advice that one rule cannot follow into SG_ADVICE_CONFLICT; sg_advise has done so. False:
 * no memory, nothing is turned. */
bool sg_advice_find_conflicts(struct sg_advice *advice);

/* The rules, for STAGGER_CONFIG. How many there are. */
uint32_t sg_advice_print_rules(const struct sg_advice *advice, FILE *out);

#endif
