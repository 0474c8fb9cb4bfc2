/* Finds the MPI library behind the preload at the first intercepted call, and checks by its exports
 * that it has MPICH's ABI.
 *
 * libstagger.so has no link to libmpich: launchers and shells load it, too. It looks the functions
 * up behind itself (RTLD_NEXT) or, if the program loaded its MPI with RTLD_LOCAL, through the
 * handles of the loaded libraries.
 *
 * Thread-safe; not from a signal handler.
 */
#ifndef SG_MPI_REAL_H
#define SG_MPI_REAL_H

#include "mpi/real_functions.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

extern struct sg_real sg_real;

/* True if the process's MPI is MPICH or another one with its ABI, and all functions were found. The
 * first call resolves. */
bool sg_real_is_mpich(void);

/* True for a library with the ABI of MPI 5, whoever made it: its handles are different. */
bool sg_real_has_standard_abi(void);

/* Returns the first line of the library's version; "": unknown. */
const char *sg_real_version(void);

/* True if this MPICH has user-level threads (Argobots, Qthreads): a wait outside MPICH would keep
 * the other threads of the processor from running. */
bool sg_real_has_user_threads(void);

/* Returns a symbol of the process's MPI library (or its Fortran part); NULL: none. */
void *sg_real_find(const char *symbol);

/* The same, cached in known, which is NULL at first. */
void *sg_real_find_once(void *_Atomic *known, const char *symbol);

/* Returns the loaded object that provides symbol at another address than except, for objects loaded
 * with RTLD_LOCAL. NULL: none. Keep the handle as long as its functions are used. */
void *sg_real_find_library(const char *symbol, const void *except);

/* True if the function is the MPI library's own, not one of a tool between it and the program. */
bool sg_real_has(void *function);

/* True for the path of an MPI library (C, C++ or Fortran part). Call after sg_real_is_mpich. */
bool sg_real_owns(const char *object_name);

/* An intercepted function takes arguments as wide as a register: handles of a foreign MPI may be
 * pointers and must pass unchanged. The symbol is separate from the C name, because mpi.h declares
 * it differently. */
typedef intptr_t sg_word;
#define SG_INTERCEPTS(symbol) __asm__(symbol) __attribute__((visibility("default")))

#endif
