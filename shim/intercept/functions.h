/* The table of MPI's functions that pass by: a row a function, by what it does to the thread that
 * calls it. Wrappers are made of it (passing.c). The functions that stagger carries out itself have
 * handwritten ones (wrap.c).
 *
 *   WAIT   returns when another rank, or a device, has done something
 *   TEST   tells whether something has happened, at once
 *
 * X(class, C name, words of its arguments); XF(..., name in Fortran 2008, words there) where that
 * one's symbol calls PMPI_* by itself, having no buffer (an ierror more than in C, and the length
 * of each text). Functions with a suffix _c are rows of their own.
 */
#ifndef SG_INTERCEPT_FUNCTIONS_H
#define SG_INTERCEPT_FUNCTIONS_H

#define SG_FUNCTIONS_MESSAGES(X, XF, XL, XLF, XC, XR)                                              \
    XL(WAIT, Send, 6)                                                                              \
    XL(WAIT, Ssend, 6)                                                                             \
    XL(WAIT, Rsend, 6)                                                                             \
    X(WAIT, Bsend, 6)                                                                              \
    XL(WAIT, Recv, 7)                                                                              \
    XL(WAIT, Mrecv, 5)                                                                             \
    XL(WAIT, Sendrecv, 12)                                                                         \
    XL(WAIT, Sendrecv_replace, 9)                                                                  \
    X(WAIT, Buffer_detach, 2)                                                                      \
    XL(WAIT, Send_c, 6)                                                                            \
    XL(WAIT, Ssend_c, 6)                                                                           \
    XL(WAIT, Rsend_c, 6)                                                                           \
    X(WAIT, Bsend_c, 6)                                                                            \
    XL(WAIT, Recv_c, 7)                                                                            \
    XL(WAIT, Mrecv_c, 5)                                                                           \
    XL(WAIT, Sendrecv_c, 12)                                                                       \
    XL(WAIT, Sendrecv_replace_c, 9)                                                                \
    XLF(WAIT, Probe, 4, probe, 5)                                                                  \
    XLF(WAIT, Mprobe, 5, mprobe, 6)                                                                \
    XLF(WAIT, Waitall, 3, waitall, 4)                                                              \
    XLF(WAIT, Waitany, 4, waitany, 5)                                                              \
    XLF(WAIT, Waitsome, 5, waitsome, 6)                                                            \
    XF(TEST, Iprobe, 5, iprobe, 6)                                                                 \
    XF(TEST, Improbe, 6, improbe, 7)                                                               \
    XF(TEST, Test, 3, test, 4)                                                                     \
    XF(TEST, Testall, 4, testall, 5)                                                               \
    XF(TEST, Testany, 5, testany, 6)                                                               \
    XF(TEST, Testsome, 5, testsome, 6)                                                             \
    XF(TEST, Parrived, 3, parrived, 4)

#define SG_FUNCTIONS_COLLECTIVES(X, XF, XL, XLF, XC, XR)                                           \
    XC(WAIT, Bcast, 5, Ibcast, e)                                                                  \
    XC(WAIT, Gather, 8, Igather, h)                                                                \
    XC(WAIT, Gatherv, 9, Igatherv, i)                                                              \
    XC(WAIT, Scatter, 8, Iscatter, h)                                                              \
    XC(WAIT, Scatterv, 9, Iscatterv, i)                                                            \
    XC(WAIT, Allgather, 7, Iallgather, g)                                                          \
    XC(WAIT, Allgatherv, 8, Iallgatherv, h)                                                        \
    XC(WAIT, Alltoall, 7, Ialltoall, g)                                                            \
    XC(WAIT, Alltoallv, 9, Ialltoallv, i)                                                          \
    XC(WAIT, Alltoallw, 9, Ialltoallw, i)                                                          \
    XR(WAIT, Reduce_scatter, 6, Ireduce_scatter, f, d, e)                                          \
    XR(WAIT, Reduce_scatter_block, 6, Ireduce_scatter_block, f, d, e)                              \
    XR(WAIT, Scan, 6, Iscan, f, d, e)                                                              \
    XR(WAIT, Exscan, 6, Iexscan, f, d, e)                                                          \
    XC(WAIT, Neighbor_allgather, 7, Ineighbor_allgather, g)                                        \
    XC(WAIT, Neighbor_allgatherv, 8, Ineighbor_allgatherv, h)                                      \
    XC(WAIT, Neighbor_alltoall, 7, Ineighbor_alltoall, g)                                          \
    XC(WAIT, Neighbor_alltoallv, 9, Ineighbor_alltoallv, i)                                        \
    XC(WAIT, Neighbor_alltoallw, 9, Ineighbor_alltoallw, i)                                        \
    XC(WAIT, Bcast_c, 5, Ibcast_c, e)                                                              \
    XC(WAIT, Gather_c, 8, Igather_c, h)                                                            \
    XC(WAIT, Gatherv_c, 9, Igatherv_c, i)                                                          \
    XC(WAIT, Scatter_c, 8, Iscatter_c, h)                                                          \
    XC(WAIT, Scatterv_c, 9, Iscatterv_c, i)                                                        \
    XC(WAIT, Allgather_c, 7, Iallgather_c, g)                                                      \
    XC(WAIT, Allgatherv_c, 8, Iallgatherv_c, h)                                                    \
    XC(WAIT, Alltoall_c, 7, Ialltoall_c, g)                                                        \
    XC(WAIT, Alltoallv_c, 9, Ialltoallv_c, i)                                                      \
    XC(WAIT, Alltoallw_c, 9, Ialltoallw_c, i)                                                      \
    XR(WAIT, Reduce_scatter_c, 6, Ireduce_scatter_c, f, d, e)                                      \
    XR(WAIT, Reduce_scatter_block_c, 6, Ireduce_scatter_block_c, f, d, e)                          \
    XR(WAIT, Scan_c, 6, Iscan_c, f, d, e)                                                          \
    XR(WAIT, Exscan_c, 6, Iexscan_c, f, d, e)                                                      \
    XC(WAIT, Neighbor_allgather_c, 7, Ineighbor_allgather_c, g)                                    \
    XC(WAIT, Neighbor_allgatherv_c, 8, Ineighbor_allgatherv_c, h)                                  \
    XC(WAIT, Neighbor_alltoall_c, 7, Ineighbor_alltoall_c, g)                                      \
    XC(WAIT, Neighbor_alltoallv_c, 9, Ineighbor_alltoallv_c, i)                                    \
    XC(WAIT, Neighbor_alltoallw_c, 9, Ineighbor_alltoallw_c, i)

#define SG_FUNCTIONS_COMMUNICATORS(X, XF, XL, XLF, XC, XR)                                         \
    XF(WAIT, Comm_dup_with_info, 3, comm_dup_with_info, 4)                                         \
    XF(WAIT, Comm_split, 4, comm_split, 5)                                                         \
    XF(WAIT, Comm_split_type, 5, comm_split_type, 6)                                               \
    XF(WAIT, Comm_create, 3, comm_create, 4)                                                       \
    XF(WAIT, Comm_create_group, 4, comm_create_group, 5)                                           \
    XF(WAIT, Intercomm_create, 6, intercomm_create, 7)                                             \
    XF(WAIT, Intercomm_merge, 3, intercomm_merge, 4)                                               \
    XF(WAIT, Cart_create, 6, cart_create, 7)                                                       \
    XF(WAIT, Cart_sub, 3, cart_sub, 4)                                                             \
    XF(WAIT, Graph_create, 6, graph_create, 7)                                                     \
    XF(WAIT, Dist_graph_create, 9, dist_graph_create, 10)                                          \
    XF(WAIT, Dist_graph_create_adjacent, 10, dist_graph_create_adjacent, 11)

#define SG_FUNCTIONS_WINDOWS(X, XF, XL, XLF, XC, XR)                                               \
    X(WAIT, Win_create, 6)                                                                         \
    X(WAIT, Win_create_c, 6)                                                                       \
    XF(WAIT, Win_allocate, 6, win_allocate, 7)                                                     \
    XF(WAIT, Win_allocate_shared, 6, win_allocate_shared, 7)                                       \
    XF(WAIT, Win_create_dynamic, 3, win_create_dynamic, 4)                                         \
    XF(WAIT, Win_free, 1, win_free, 2)                                                             \
    XF(WAIT, Win_fence, 2, win_fence, 3)                                                           \
    XF(WAIT, Win_start, 3, win_start, 4)                                                           \
    XF(WAIT, Win_complete, 1, win_complete, 2)                                                     \
    XF(WAIT, Win_post, 3, win_post, 4)                                                             \
    XF(WAIT, Win_wait, 1, win_wait, 2)                                                             \
    XF(WAIT, Win_lock, 4, win_lock, 5)                                                             \
    XF(WAIT, Win_lock_all, 2, win_lock_all, 3)                                                     \
    XF(WAIT, Win_unlock, 2, win_unlock, 3)                                                         \
    XF(WAIT, Win_unlock_all, 1, win_unlock_all, 2)                                                 \
    XF(WAIT, Win_flush, 2, win_flush, 3)                                                           \
    XF(WAIT, Win_flush_all, 1, win_flush_all, 2)                                                   \
    XF(WAIT, Win_flush_local, 2, win_flush_local, 3)                                               \
    XF(WAIT, Win_flush_local_all, 1, win_flush_local_all, 2)                                       \
    XF(TEST, Win_test, 2, win_test, 3)

#define SG_FUNCTIONS_FILES(X, XF, XL, XLF, XC, XR)                                                 \
    XF(WAIT, File_open, 5, file_open, 7)                                                           \
    XF(WAIT, File_close, 1, file_close, 2)                                                         \
    XF(WAIT, File_set_size, 2, file_set_size, 3)                                                   \
    XF(WAIT, File_preallocate, 2, file_preallocate, 3)                                             \
    XF(WAIT, File_set_view, 6, file_set_view, 8)                                                   \
    XF(WAIT, File_sync, 1, file_sync, 2)                                                           \
    X(WAIT, File_read_all, 5)                                                                      \
    X(WAIT, File_write_all, 5)                                                                     \
    X(WAIT, File_read_at_all, 6)                                                                   \
    X(WAIT, File_write_at_all, 6)                                                                  \
    X(WAIT, File_read_ordered, 5)                                                                  \
    X(WAIT, File_write_ordered, 5)

#define SG_FUNCTIONS(X, XF, XL, XLF, XC, XR)                                                       \
    SG_FUNCTIONS_MESSAGES(X, XF, XL, XLF, XC, XR)                                                  \
    SG_FUNCTIONS_COLLECTIVES(X, XF, XL, XLF, XC, XR)                                               \
    SG_FUNCTIONS_COMMUNICATORS(X, XF, XL, XLF, XC, XR)                                             \
    SG_FUNCTIONS_WINDOWS(X, XF, XL, XLF, XC, XR)                                                   \
    SG_FUNCTIONS_FILES(X, XF, XL, XLF, XC, XR)

#endif
