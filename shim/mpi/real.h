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

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Every MPI function that stagger calls, by its profiling name. */
#define SG_REAL_FUNCTIONS(X)                                                                       \
    X(Abort)                                                                                       \
    X(Allreduce)                                                                                   \
    X(Barrier)                                                                                     \
    X(Bcast)                                                                                       \
    X(Cancel)                                                                                      \
    X(Cart_get)                                                                                    \
    X(Cart_shift)                                                                                  \
    X(Cartdim_get)                                                                                 \
    X(Comm_call_errhandler)                                                                        \
    X(Comm_create_keyval)                                                                          \
    X(Comm_delete_attr)                                                                            \
    X(Comm_get_attr)                                                                               \
    X(Comm_disconnect)                                                                             \
    X(Comm_free)                                                                                   \
    X(Comm_free_keyval)                                                                            \
    X(Comm_get_errhandler)                                                                         \
    X(Comm_get_name)                                                                               \
    X(Comm_get_parent)                                                                             \
    X(Comm_group)                                                                                  \
    X(Comm_idup)                                                                                   \
    X(Comm_rank)                                                                                   \
    X(Comm_remote_group)                                                                           \
    X(Comm_remote_size)                                                                            \
    X(Comm_set_attr)                                                                               \
    X(Comm_set_errhandler)                                                                         \
    X(Comm_size)                                                                                   \
    X(Comm_test_inter)                                                                             \
    X(Dist_graph_neighbors)                                                                        \
    X(Dist_graph_neighbors_count)                                                                  \
    X(Errhandler_free)                                                                             \
    X(Error_class)                                                                                 \
    X(Finalize)                                                                                    \
    X(Get_elements_x)                                                                              \
    X(Get_library_version)                                                                         \
    X(Graph_neighbors)                                                                             \
    X(Graph_neighbors_count)                                                                       \
    X(Grequest_complete)                                                                           \
    X(Grequest_start)                                                                              \
    X(Group_free)                                                                                  \
    X(Group_size)                                                                                  \
    X(Group_translate_ranks)                                                                       \
    X(Iallgather)                                                                                  \
    X(Iallreduce)                                                                                  \
    X(Ibarrier)                                                                                    \
    X(Ibcast)                                                                                      \
    X(Igather)                                                                                     \
    X(Igatherv)                                                                                    \
    X(Improbe)                                                                                     \
    X(Init)                                                                                        \
    X(Init_thread)                                                                                 \
    X(Iprobe)                                                                                      \
    X(Irecv)                                                                                       \
    X(Ireduce)                                                                                     \
    X(Isend)                                                                                       \
    X(Op_commutative)                                                                              \
    X(Pack)                                                                                        \
    X(Pack_size)                                                                                   \
    X(Pcontrol)                                                                                    \
    X(Query_thread)                                                                                \
    X(Recv)                                                                                        \
    X(Reduce)                                                                                      \
    X(Reduce_local)                                                                                \
    X(Request_free)                                                                                \
    X(Request_get_status)                                                                          \
    X(Send)                                                                                        \
    X(Sendrecv)                                                                                    \
    X(Status_set_cancelled)                                                                        \
    X(Status_set_elements)                                                                         \
    X(Status_set_elements_x)                                                                       \
    X(Test)                                                                                        \
    X(Test_cancelled)                                                                              \
    X(Testall)                                                                                     \
    X(Testany)                                                                                     \
    X(Testsome)                                                                                    \
    X(Topo_test)                                                                                   \
    X(Type_commit)                                                                                 \
    X(Type_create_hindexed)                                                                        \
    X(Type_dup)                                                                                    \
    X(Type_get_contents)                                                                           \
    X(Type_get_envelope)                                                                           \
    X(Type_get_extent_x)                                                                           \
    X(Type_free)                                                                                   \
    X(Type_size_x)                                                                                 \
    X(Unpack)                                                                                      \
    X(Wait)                                                                                        \
    X(Waitall)                                                                                     \
    X(Waitsome)                                                                                    \
    X(Win_get_name)

/* Missing in some MPICHs; called only when the application calls them. */
#define SG_REAL_OPTIONAL(X)                                                                        \
    X(Allreduce_c)                                                                                 \
    X(Bcast_c)                                                                                     \
    X(Iallreduce_c)                                                                                \
    X(Ibcast_c)                                                                                    \
    X(Ireduce_c)                                                                                   \
    X(Pack_c)                                                                                      \
    X(Pack_size_c)                                                                                 \
    X(Reduce_c)                                                                                    \
    X(Sendrecv_c)                                                                                  \
    X(Unpack_c)

/* MPICH's extensions; NULL if it has none. */
#define SG_REAL_EXTENSIONS(X) X(Grequest_start)

struct sg_real {
#define SG_REAL_MEMBER(name) __typeof__(&PMPI_##name) name;
    SG_REAL_FUNCTIONS(SG_REAL_MEMBER)
    SG_REAL_OPTIONAL(SG_REAL_MEMBER)
#undef SG_REAL_MEMBER
#define SG_REAL_MEMBER(name) __typeof__(&PMPIX_##name) x_##name;
    SG_REAL_EXTENSIONS(SG_REAL_MEMBER)
#undef SG_REAL_MEMBER
};

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
