/* The libraries that libstagger.so needs, loaded with RTLD_LOCAL when the program starts MPI: no
 * symbol of libunwind, OTF2 or libdw may reach the application's scope (a preloaded libunwind, for
 * example, would replace the C++ library's _Unwind_RaiseException).
 */
#ifndef SG_RUNTIME_LIBRARIES_H
#define SG_RUNTIME_LIBRARIES_H

#include "runtime/process.h"

/* Sets process->backtrace, and process->companion on all ranks or on none. One line reports what
 * cannot be loaded. Collective over the exchange. */
void sg_libraries_load(struct sg_process *process);

#endif
