/* What calls need in place from MPI_Init to MPI_Finalize (runtime/start.h). */
#ifndef SG_INTERCEPT_CALLS_H
#define SG_INTERCEPT_CALLS_H

#include "runtime/start.h"

extern const struct sg_process_calls sg_calls;

#endif
