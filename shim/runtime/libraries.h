/* The libraries behind libstagger.so, loaded with RTLD_LOCAL when the program starts MPI: nothing
 * of libunwind, OTF2 or libdw may reach the application's symbol scope (a preloaded libunwind, for
 * one, would take over the C++ library's _Unwind_RaiseException).
 */
#ifndef SG_RUNTIME_LIBRARIES_H
#define SG_RUNTIME_LIBRARIES_H

#include "runtime/process.h"

/* Sets process->backtrace and ->companion, the latter on all ranks or on none; what cannot be
 * loaded is said in one line. Collective over the exchange. */
void sg_libraries_load(struct sg_process *process);

#endif
