/* Names of functions as users write them: demangled, without parameters, return type and the
 * suffixes of compiler clones. Pure but for finding the demangler.
 */
#ifndef SG_TRACE_SYMBOL_NAME_H
#define SG_TRACE_SYMBOL_NAME_H

/* From a linker symbol ("_ZN3abc1fEi", "step.constprop.0"); malloc'ed, NULL when out of memory.
 * A name that cannot be demangled is kept as it is. */
char *sg_symbol_name(const char *linkage_name);

#endif
