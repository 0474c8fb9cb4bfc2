/* The table of MPI's functions that communicate, wait, synchronise or access files: one row a
 * function. Wrappers (intercept/passing.c) and facts about calls (counted_functions.h) are
 * generated from it. docs/decisions/0037 lists the functions without a row.
 *
 *   X(name, symbol, mode, class, flow, form, arguments...)
 *
 * name       without MPI_; functions with counts have two rows, one with a suffix _c
 * symbol     NO, or F08(name in Fortran 2008, words beyond those of C) if that symbol calls
 *            PMPI_* by itself because it has no buffer: an ierror, and the length of each text;
 *            F08_ALONE(name) if there is only the ierror
 * mode       WAIT     returns when another rank, or a device, has done something
 *            TEST     reports at once whether something has happened
 *            POST     begins an operation that a request or another call completes
 *            PREPARE  makes a request that is started later, repeatedly
 *            START    starts such requests
 *            LOCAL    none of these
 * class      the kind of object: enum sg_function_class
 * flow       the data flow of the operands: enum sg_function_flow
 * form       PLAIN          passes by
 *            LOOP           a loop of tests may carry it out, sg_loop_<name>
 *            SLICED         slices may carry it, sg_sliced_<name>; LOOP_SLICED: or a loop
 *            REFUSED        an error where slices carry messages; LOOP_REFUSED likewise
 *            BEGUN(other)   its nonblocking form may carry it out
 *            REDUCED(other) likewise, if MPICH associates operands the same way in both
 *            OWN            has handwritten wrappers (intercept/wrap.c, wrap_f08.c)
 * arguments  enum sg_function_argument; a function without arguments has an unused one
 */
#ifndef SG_PROFILE_FUNCTIONS_H
#define SG_PROFILE_FUNCTIONS_H

/* The number of arguments of a row. */
#define SG_FUNCTION_WORDS(...)                                                                     \
    SG_FUNCTION_WORDS_OF(__VA_ARGS__, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, )
#define SG_FUNCTION_WORDS_OF(a, b, c, d, e, f, g, h, i, j, k, l, m, n, count, ...) count

/* A blocking collective with its nonblocking and its persistent form. */
#define SG_THREE(X, name, posted, prepared, class, flow, form, ...)                                \
    X(name, NO, WAIT, class, flow, form, __VA_ARGS__)                                              \
    X(posted, NO, POST, class, flow, PLAIN, __VA_ARGS__, REQUEST)                                  \
    X(prepared, NO, PREPARE, class, flow, PLAIN, __VA_ARGS__, VALUE, REQUEST)

#define SG_FUNCTIONS_MESSAGES_COUNTED(X, c)                                                        \
    X(Send##c, NO, WAIT, MESSAGE, SEND, LOOP_SLICED, BUFFER, COUNT, TYPE, PEER, TAG, COMM)         \
    X(Isend##c, NO, POST, MESSAGE, SEND, SLICED, BUFFER, COUNT, TYPE, PEER, TAG, COMM, REQUEST)    \
    X(Send_init##c, NO, PREPARE, MESSAGE, SEND, REFUSED, BUFFER, COUNT, TYPE, PEER, TAG, COMM,     \
      REQUEST)                                                                                     \
    X(Ssend##c, NO, WAIT, MESSAGE, SEND, LOOP_SLICED, BUFFER, COUNT, TYPE, PEER, TAG, COMM)        \
    X(Issend##c, NO, POST, MESSAGE, SEND, SLICED, BUFFER, COUNT, TYPE, PEER, TAG, COMM, REQUEST)   \
    X(Ssend_init##c, NO, PREPARE, MESSAGE, SEND, REFUSED, BUFFER, COUNT, TYPE, PEER, TAG, COMM,    \
      REQUEST)                                                                                     \
    X(Rsend##c, NO, WAIT, MESSAGE, SEND, LOOP_SLICED, BUFFER, COUNT, TYPE, PEER, TAG, COMM)        \
    X(Irsend##c, NO, POST, MESSAGE, SEND, SLICED, BUFFER, COUNT, TYPE, PEER, TAG, COMM, REQUEST)   \
    X(Rsend_init##c, NO, PREPARE, MESSAGE, SEND, REFUSED, BUFFER, COUNT, TYPE, PEER, TAG, COMM,    \
      REQUEST)                                                                                     \
    X(Bsend##c, NO, WAIT, MESSAGE, SEND, REFUSED, BUFFER, COUNT, TYPE, PEER, TAG, COMM)            \
    X(Ibsend##c, NO, POST, MESSAGE, SEND, REFUSED, BUFFER, COUNT, TYPE, PEER, TAG, COMM, REQUEST)  \
    X(Bsend_init##c, NO, PREPARE, MESSAGE, SEND, REFUSED, BUFFER, COUNT, TYPE, PEER, TAG, COMM,    \
      REQUEST)                                                                                     \
    X(Recv##c, NO, WAIT, MESSAGE, RECEIVE, LOOP_SLICED, BUFFER, COUNT, TYPE, PEER, TAG, COMM,      \
      STATUS)                                                                                      \
    X(Irecv##c, NO, POST, MESSAGE, RECEIVE, SLICED, BUFFER, COUNT, TYPE, PEER, TAG, COMM, REQUEST) \
    X(Recv_init##c, NO, PREPARE, MESSAGE, RECEIVE, REFUSED, BUFFER, COUNT, TYPE, PEER, TAG, COMM,  \
      REQUEST)                                                                                     \
    X(Mrecv##c, NO, WAIT, MESSAGE, RECEIVE, LOOP, BUFFER, COUNT, TYPE, MESSAGE, STATUS)            \
    X(Imrecv##c, NO, POST, MESSAGE, RECEIVE, PLAIN, BUFFER, COUNT, TYPE, MESSAGE, REQUEST)         \
    X(Sendrecv##c, NO, WAIT, MESSAGE, EXCHANGE, LOOP_SLICED, BUFFER, COUNT, TYPE, PEER, TAG,       \
      BUFFER, COUNT, TYPE, PEER, TAG, COMM, STATUS)                                                \
    X(Isendrecv##c, NO, POST, MESSAGE, EXCHANGE, REFUSED, BUFFER, COUNT, TYPE, PEER, TAG, BUFFER,  \
      COUNT, TYPE, PEER, TAG, COMM, REQUEST)                                                       \
    X(Sendrecv_replace##c, NO, WAIT, MESSAGE, EXCHANGE, LOOP_SLICED, BUFFER, COUNT, TYPE, PEER,    \
      TAG, PEER, TAG, COMM, STATUS)                                                                \
    X(Isendrecv_replace##c, NO, POST, MESSAGE, EXCHANGE, REFUSED, BUFFER, COUNT, TYPE, PEER, TAG,  \
      PEER, TAG, COMM, REQUEST)

#define SG_FUNCTIONS_MESSAGES(X)                                                                   \
    X(Buffer_detach, F08(buffer_detach, 1), WAIT, MESSAGE, NONE, PLAIN, BUFFER, VALUE)             \
    X(Buffer_detach_c, F08(buffer_detach_c, 1), WAIT, MESSAGE, NONE, PLAIN, BUFFER, VALUE)         \
    X(Buffer_flush, F08_ALONE(buffer_flush), WAIT, MESSAGE, NONE, PLAIN, VALUE)                    \
    X(Buffer_iflush, F08(buffer_iflush, 1), POST, MESSAGE, NONE, PLAIN, REQUEST)                   \
    X(Comm_detach_buffer, F08(comm_detach_buffer, 1), WAIT, MESSAGE, NONE, PLAIN, COMM, BUFFER,    \
      VALUE)                                                                                       \
    X(Comm_detach_buffer_c, F08(comm_detach_buffer_c, 1), WAIT, MESSAGE, NONE, PLAIN, COMM,        \
      BUFFER, VALUE)                                                                               \
    X(Comm_flush_buffer, F08(comm_flush_buffer, 1), WAIT, MESSAGE, NONE, PLAIN, COMM)              \
    X(Comm_iflush_buffer, F08(comm_iflush_buffer, 1), POST, MESSAGE, NONE, PLAIN, COMM, REQUEST)   \
    X(Session_detach_buffer, F08(session_detach_buffer, 1), WAIT, MESSAGE, NONE, PLAIN, VALUE,     \
      BUFFER, VALUE)                                                                               \
    X(Session_detach_buffer_c, F08(session_detach_buffer_c, 1), WAIT, MESSAGE, NONE, PLAIN, VALUE, \
      BUFFER, VALUE)                                                                               \
    X(Session_flush_buffer, F08(session_flush_buffer, 1), WAIT, MESSAGE, NONE, PLAIN, VALUE)       \
    X(Session_iflush_buffer, F08(session_iflush_buffer, 1), POST, MESSAGE, NONE, PLAIN, VALUE,     \
      REQUEST)                                                                                     \
    X(Request_get_status_all, NO, TEST, REQUEST, NONE, OWN, NUMBER, REQUESTS, FLAG, STATUSES)      \
    X(Request_get_status_any, NO, TEST, REQUEST, NONE, OWN, NUMBER, REQUESTS, INDEX, FLAG, STATUS) \
    X(Request_get_status_some, NO, TEST, REQUEST, NONE, OWN, NUMBER, REQUESTS, DONE, INDICES,      \
      STATUSES)                                                                                    \
    X(Parrived, F08(parrived, 1), TEST, MESSAGE, NONE, PLAIN, HANDLE, VALUE, FLAG)                 \
    X(Pready, F08(pready, 1), LOCAL, MESSAGE, NONE, PLAIN, VALUE, HANDLE)                          \
    X(Pready_list, F08(pready_list, 1), LOCAL, MESSAGE, NONE, PLAIN, VALUE, VALUE, HANDLE)         \
    X(Pready_range, F08(pready_range, 1), LOCAL, MESSAGE, NONE, PLAIN, VALUE, VALUE, HANDLE)       \
    X(Precv_init, NO, PREPARE, MESSAGE, RECEIVE, REFUSED, BUFFER, PARTS, COUNT, TYPE, PEER, TAG,   \
      COMM, VALUE, REQUEST)                                                                        \
    X(Psend_init, NO, PREPARE, MESSAGE, SEND, REFUSED, BUFFER, PARTS, COUNT, TYPE, PEER, TAG,      \
      COMM, VALUE, REQUEST)                                                                        \
    X(Improbe, F08(improbe, 1), TEST, MESSAGE, NONE, REFUSED, PEER, TAG, COMM, FLAG, MESSAGE,      \
      STATUS)                                                                                      \
    X(Iprobe, F08(iprobe, 1), TEST, MESSAGE, NONE, SLICED, PEER, TAG, COMM, FLAG, STATUS)          \
    X(Mprobe, F08(mprobe, 1), WAIT, MESSAGE, NONE, LOOP_REFUSED, PEER, TAG, COMM, MESSAGE, STATUS) \
    X(Probe, F08(probe, 1), WAIT, MESSAGE, NONE, LOOP_SLICED, PEER, TAG, COMM, STATUS)             \
    X(Start, F08(start, 1), START, MESSAGE, NONE, PLAIN, REQUEST)                                  \
    X(Startall, F08(startall, 1), START, MESSAGE, NONE, PLAIN, NUMBER, REQUESTS)                   \
    X(Cancel, F08(cancel, 1), LOCAL, REQUEST, NONE, PLAIN, REQUEST)                                \
    X(Request_free, F08(request_free, 1), LOCAL, REQUEST, NONE, PLAIN, REQUEST)                    \
    X(Request_get_status, NO, TEST, REQUEST, NONE, OWN, HANDLE, FLAG, STATUS)                      \
    X(Test, F08(test, 1), TEST, REQUEST, NONE, PLAIN, REQUEST, FLAG, STATUS)                       \
    X(Testall, F08(testall, 1), TEST, REQUEST, NONE, PLAIN, NUMBER, REQUESTS, FLAG, STATUSES)      \
    X(Testany, F08(testany, 1), TEST, REQUEST, NONE, PLAIN, NUMBER, REQUESTS, INDEX, FLAG, STATUS) \
    X(Testsome, F08(testsome, 1), TEST, REQUEST, NONE, PLAIN, NUMBER, REQUESTS, DONE, INDICES,     \
      STATUSES)                                                                                    \
    X(Wait, NO, WAIT, REQUEST, NONE, OWN, REQUEST, STATUS)                                         \
    X(Waitall, F08(waitall, 1), WAIT, REQUEST, NONE, LOOP, NUMBER, REQUESTS, STATUSES)             \
    X(Waitany, F08(waitany, 1), WAIT, REQUEST, NONE, LOOP, NUMBER, REQUESTS, INDEX, STATUS)        \
    X(Waitsome, F08(waitsome, 1), WAIT, REQUEST, NONE, LOOP, NUMBER, REQUESTS, DONE, INDICES,      \
      STATUSES)

#define SG_FUNCTIONS_COLLECTIVES_COUNTED(X, c)                                                     \
    X(Bcast##c, NO, WAIT, COLLECTIVE, BCAST, OWN, BUFFER, COUNT, TYPE, ROOT, COMM)                 \
    X(Ibcast##c, NO, POST, COLLECTIVE, BCAST, OWN, BUFFER, COUNT, TYPE, ROOT, COMM, REQUEST)       \
    X(Bcast_init##c, NO, PREPARE, COLLECTIVE, BCAST, PLAIN, BUFFER, COUNT, TYPE, ROOT, COMM,       \
      VALUE, REQUEST)                                                                              \
    SG_THREE(X, Gather##c, Igather##c, Gather_init##c, COLLECTIVE, GATHER, BEGUN(Igather##c),      \
             BUFFER, COUNT, TYPE, BUFFER, COUNT, TYPE, ROOT, COMM)                                 \
    SG_THREE(X, Gatherv##c, Igatherv##c, Gatherv_init##c, COLLECTIVE, GATHER, BEGUN(Igatherv##c),  \
             BUFFER, COUNT, TYPE, BUFFER, COUNTS, VALUE, TYPE, ROOT, COMM)                         \
    SG_THREE(X, Scatter##c, Iscatter##c, Scatter_init##c, COLLECTIVE, SCATTER, BEGUN(Iscatter##c), \
             BUFFER, COUNT, TYPE, BUFFER, COUNT, TYPE, ROOT, COMM)                                 \
    SG_THREE(X, Scatterv##c, Iscatterv##c, Scatterv_init##c, COLLECTIVE, SCATTER,                  \
             BEGUN(Iscatterv##c), BUFFER, COUNTS, VALUE, TYPE, BUFFER, COUNT, TYPE, ROOT, COMM)    \
    SG_THREE(X, Allgather##c, Iallgather##c, Allgather_init##c, COLLECTIVE, ALLGATHER,             \
             BEGUN(Iallgather##c), BUFFER, COUNT, TYPE, BUFFER, COUNT, TYPE, COMM)                 \
    SG_THREE(X, Allgatherv##c, Iallgatherv##c, Allgatherv_init##c, COLLECTIVE, ALLGATHER,          \
             BEGUN(Iallgatherv##c), BUFFER, COUNT, TYPE, BUFFER, COUNTS, VALUE, TYPE, COMM)        \
    SG_THREE(X, Alltoall##c, Ialltoall##c, Alltoall_init##c, COLLECTIVE, ALLTOALL,                 \
             BEGUN(Ialltoall##c), BUFFER, COUNT, TYPE, BUFFER, COUNT, TYPE, COMM)                  \
    SG_THREE(X, Alltoallv##c, Ialltoallv##c, Alltoallv_init##c, COLLECTIVE, ALLTOALL,              \
             BEGUN(Ialltoallv##c), BUFFER, COUNTS, VALUE, TYPE, BUFFER, COUNTS, VALUE, TYPE, COMM) \
    SG_THREE(X, Alltoallw##c, Ialltoallw##c, Alltoallw_init##c, COLLECTIVE, ALLTOALL,              \
             BEGUN(Ialltoallw##c), BUFFER, COUNTS, VALUE, TYPES, BUFFER, COUNTS, VALUE, TYPES,     \
             COMM)                                                                                 \
    SG_THREE(X, Neighbor_allgather##c, Ineighbor_allgather##c, Neighbor_allgather_init##c,         \
             COLLECTIVE, NEIGHBOR_ALLGATHER, BEGUN(Ineighbor_allgather##c), BUFFER, COUNT, TYPE,   \
             BUFFER, COUNT, TYPE, COMM)                                                            \
    SG_THREE(X, Neighbor_allgatherv##c, Ineighbor_allgatherv##c, Neighbor_allgatherv_init##c,      \
             COLLECTIVE, NEIGHBOR_ALLGATHER, BEGUN(Ineighbor_allgatherv##c), BUFFER, COUNT, TYPE,  \
             BUFFER, COUNTS, VALUE, TYPE, COMM)                                                    \
    SG_THREE(X, Neighbor_alltoall##c, Ineighbor_alltoall##c, Neighbor_alltoall_init##c,            \
             COLLECTIVE, NEIGHBOR_ALLTOALL, BEGUN(Ineighbor_alltoall##c), BUFFER, COUNT, TYPE,     \
             BUFFER, COUNT, TYPE, COMM)                                                            \
    SG_THREE(X, Neighbor_alltoallv##c, Ineighbor_alltoallv##c, Neighbor_alltoallv_init##c,         \
             COLLECTIVE, NEIGHBOR_ALLTOALL, BEGUN(Ineighbor_alltoallv##c), BUFFER, COUNTS, VALUE,  \
             TYPE, BUFFER, COUNTS, VALUE, TYPE, COMM)                                              \
    SG_THREE(X, Neighbor_alltoallw##c, Ineighbor_alltoallw##c, Neighbor_alltoallw_init##c,         \
             COLLECTIVE, NEIGHBOR_ALLTOALL, BEGUN(Ineighbor_alltoallw##c), BUFFER, COUNTS, VALUE,  \
             TYPES, BUFFER, COUNTS, VALUE, TYPES, COMM)                                            \
    SG_THREE(X, Reduce_scatter##c, Ireduce_scatter##c, Reduce_scatter_init##c, COLLECTIVE,         \
             REDUCE_SCATTER, REDUCED(Ireduce_scatter##c), BUFFER, BUFFER, COUNTS, TYPE, OP, COMM)  \
    SG_THREE(X, Reduce_scatter_block##c, Ireduce_scatter_block##c, Reduce_scatter_block_init##c,   \
             COLLECTIVE, REDUCE_SCATTER, REDUCED(Ireduce_scatter_block##c), BUFFER, BUFFER, COUNT, \
             TYPE, OP, COMM)                                                                       \
    SG_THREE(X, Scan##c, Iscan##c, Scan_init##c, COLLECTIVE, ALLREDUCE, REDUCED(Iscan##c), BUFFER, \
             BUFFER, COUNT, TYPE, OP, COMM)                                                        \
    SG_THREE(X, Exscan##c, Iexscan##c, Exscan_init##c, COLLECTIVE, ALLREDUCE, REDUCED(Iexscan##c), \
             BUFFER, BUFFER, COUNT, TYPE, OP, COMM)                                                \
    X(Reduce##c, NO, WAIT, COLLECTIVE, REDUCE, OWN, BUFFER, BUFFER, COUNT, TYPE, OP, ROOT, COMM)   \
    X(Ireduce##c, NO, POST, COLLECTIVE, REDUCE, OWN, BUFFER, BUFFER, COUNT, TYPE, OP, ROOT, COMM,  \
      REQUEST)                                                                                     \
    X(Reduce_init##c, NO, PREPARE, COLLECTIVE, REDUCE, PLAIN, BUFFER, BUFFER, COUNT, TYPE, OP,     \
      ROOT, COMM, VALUE, REQUEST)                                                                  \
    X(Allreduce##c, NO, WAIT, COLLECTIVE, ALLREDUCE, OWN, BUFFER, BUFFER, COUNT, TYPE, OP, COMM)   \
    X(Iallreduce##c, NO, POST, COLLECTIVE, ALLREDUCE, OWN, BUFFER, BUFFER, COUNT, TYPE, OP, COMM,  \
      REQUEST)                                                                                     \
    X(Allreduce_init##c, NO, PREPARE, COLLECTIVE, ALLREDUCE, PLAIN, BUFFER, BUFFER, COUNT, TYPE,   \
      OP, COMM, VALUE, REQUEST)

#define SG_FUNCTIONS_COLLECTIVES(X)                                                                \
    X(Barrier, NO, WAIT, COLLECTIVE, NONE, OWN, COMM)                                              \
    X(Barrier_init, F08(barrier_init, 1), PREPARE, COLLECTIVE, NONE, PLAIN, COMM, VALUE, REQUEST)  \
    X(Ibarrier, NO, POST, COLLECTIVE, NONE, OWN, COMM, REQUEST)

#define SG_FUNCTIONS_ONE_SIDED_COUNTED(X, c)                                                       \
    X(Accumulate##c, NO, POST, ONE_SIDED, SEND, PLAIN, BUFFER, COUNT, TYPE, PEER, VALUE, VALUE,    \
      TYPE, OP, WIN)                                                                               \
    X(Get##c, NO, POST, ONE_SIDED, RECEIVE, PLAIN, BUFFER, COUNT, TYPE, PEER, VALUE, VALUE, TYPE,  \
      WIN)                                                                                         \
    X(Get_accumulate##c, NO, POST, ONE_SIDED, EXCHANGE, PLAIN, BUFFER, COUNT, TYPE, BUFFER, COUNT, \
      TYPE, PEER, VALUE, VALUE, TYPE, OP, WIN)                                                     \
    X(Put##c, NO, POST, ONE_SIDED, SEND, PLAIN, BUFFER, COUNT, TYPE, PEER, VALUE, VALUE, TYPE,     \
      WIN)                                                                                         \
    X(Raccumulate##c, NO, POST, ONE_SIDED, SEND, PLAIN, BUFFER, COUNT, TYPE, PEER, VALUE, VALUE,   \
      TYPE, OP, WIN, REQUEST)                                                                      \
    X(Rget##c, NO, POST, ONE_SIDED, RECEIVE, PLAIN, BUFFER, COUNT, TYPE, PEER, VALUE, VALUE, TYPE, \
      WIN, REQUEST)                                                                                \
    X(Rget_accumulate##c, NO, POST, ONE_SIDED, EXCHANGE, PLAIN, BUFFER, COUNT, TYPE, BUFFER,       \
      COUNT, TYPE, PEER, VALUE, VALUE, TYPE, OP, WIN, REQUEST)                                     \
    X(Rput##c, NO, POST, ONE_SIDED, SEND, PLAIN, BUFFER, COUNT, TYPE, PEER, VALUE, VALUE, TYPE,    \
      WIN, REQUEST)                                                                                \
    X(Win_create##c, NO, WAIT, WINDOW, NONE, PLAIN, BUFFER, VALUE, VALUE, VALUE, COMM, NEW)

#define SG_FUNCTIONS_ONE_SIDED(X)                                                                  \
    X(Win_allocate, F08(win_allocate, 1), WAIT, WINDOW, NONE, PLAIN, VALUE, VALUE, VALUE, COMM,    \
      BUFFER, NEW)                                                                                 \
    X(Win_allocate_c, F08(win_allocate_c, 1), WAIT, WINDOW, NONE, PLAIN, VALUE, VALUE, VALUE,      \
      COMM, BUFFER, NEW)                                                                           \
    X(Win_allocate_shared, F08(win_allocate_shared, 1), WAIT, WINDOW, NONE, PLAIN, VALUE, VALUE,   \
      VALUE, COMM, BUFFER, NEW)                                                                    \
    X(Win_allocate_shared_c, F08(win_allocate_shared_c, 1), WAIT, WINDOW, NONE, PLAIN, VALUE,      \
      VALUE, VALUE, COMM, BUFFER, NEW)                                                             \
    X(Compare_and_swap, NO, POST, ONE_SIDED, ELEMENT, PLAIN, BUFFER, BUFFER, BUFFER, TYPE, PEER,   \
      VALUE, WIN)                                                                                  \
    X(Fetch_and_op, NO, POST, ONE_SIDED, ELEMENT, PLAIN, BUFFER, BUFFER, TYPE, PEER, VALUE, OP,    \
      WIN)                                                                                         \
    X(Win_complete, F08(win_complete, 1), WAIT, WINDOW, NONE, PLAIN, WIN)                          \
    X(Win_create_dynamic, F08(win_create_dynamic, 1), WAIT, WINDOW, NONE, PLAIN, VALUE, COMM, NEW) \
    X(Win_fence, F08(win_fence, 1), WAIT, WINDOW, NONE, PLAIN, VALUE, WIN)                         \
    X(Win_flush, F08(win_flush, 1), WAIT, WINDOW, NONE, PLAIN, PEER, WIN)                          \
    X(Win_flush_all, F08(win_flush_all, 1), WAIT, WINDOW, NONE, PLAIN, WIN)                        \
    X(Win_flush_local, F08(win_flush_local, 1), WAIT, WINDOW, NONE, PLAIN, PEER, WIN)              \
    X(Win_flush_local_all, F08(win_flush_local_all, 1), WAIT, WINDOW, NONE, PLAIN, WIN)            \
    X(Win_free, F08(win_free, 1), WAIT, WINDOW, NONE, PLAIN, NEW)                                  \
    X(Win_lock, F08(win_lock, 1), WAIT, WINDOW, NONE, PLAIN, LOCK, PEER, VALUE, WIN)               \
    X(Win_lock_all, F08(win_lock_all, 1), WAIT, WINDOW, NONE, PLAIN, VALUE, WIN)                   \
    X(Win_post, F08(win_post, 1), WAIT, WINDOW, NONE, PLAIN, GROUP, VALUE, WIN)                    \
    X(Win_start, F08(win_start, 1), WAIT, WINDOW, NONE, PLAIN, GROUP, VALUE, WIN)                  \
    X(Win_sync, F08(win_sync, 1), LOCAL, WINDOW, NONE, PLAIN, WIN)                                 \
    X(Win_test, F08(win_test, 1), TEST, WINDOW, NONE, PLAIN, WIN, FLAG)                            \
    X(Win_unlock, F08(win_unlock, 1), WAIT, WINDOW, NONE, PLAIN, PEER, WIN)                        \
    X(Win_unlock_all, F08(win_unlock_all, 1), WAIT, WINDOW, NONE, PLAIN, WIN)                      \
    X(Win_wait, F08(win_wait, 1), WAIT, WINDOW, NONE, PLAIN, WIN)

#define SG_FUNCTIONS_FILES_COUNTED(X, c)                                                           \
    X(File_read_at##c, NO, WAIT, FILE, RECEIVE, PLAIN, FILE, VALUE, BUFFER, COUNT, TYPE, STATUS)   \
    X(File_read_at_all##c, NO, WAIT, FILE, RECEIVE, PLAIN, FILE, VALUE, BUFFER, COUNT, TYPE,       \
      STATUS)                                                                                      \
    X(File_write_at##c, NO, WAIT, FILE, SEND, PLAIN, FILE, VALUE, BUFFER, COUNT, TYPE, STATUS)     \
    X(File_write_at_all##c, NO, WAIT, FILE, SEND, PLAIN, FILE, VALUE, BUFFER, COUNT, TYPE, STATUS) \
    X(File_iread_at##c, NO, POST, FILE, RECEIVE, PLAIN, FILE, VALUE, BUFFER, COUNT, TYPE, REQUEST) \
    X(File_iwrite_at##c, NO, POST, FILE, SEND, PLAIN, FILE, VALUE, BUFFER, COUNT, TYPE, REQUEST)   \
    X(File_read##c, NO, WAIT, FILE, RECEIVE, PLAIN, FILE, BUFFER, COUNT, TYPE, STATUS)             \
    X(File_read_all##c, NO, WAIT, FILE, RECEIVE, PLAIN, FILE, BUFFER, COUNT, TYPE, STATUS)         \
    X(File_write##c, NO, WAIT, FILE, SEND, PLAIN, FILE, BUFFER, COUNT, TYPE, STATUS)               \
    X(File_write_all##c, NO, WAIT, FILE, SEND, PLAIN, FILE, BUFFER, COUNT, TYPE, STATUS)           \
    X(File_iread##c, NO, POST, FILE, RECEIVE, PLAIN, FILE, BUFFER, COUNT, TYPE, REQUEST)           \
    X(File_iwrite##c, NO, POST, FILE, SEND, PLAIN, FILE, BUFFER, COUNT, TYPE, REQUEST)             \
    X(File_read_shared##c, NO, WAIT, FILE, RECEIVE, PLAIN, FILE, BUFFER, COUNT, TYPE, STATUS)      \
    X(File_write_shared##c, NO, WAIT, FILE, SEND, PLAIN, FILE, BUFFER, COUNT, TYPE, STATUS)        \
    X(File_iread_shared##c, NO, POST, FILE, RECEIVE, PLAIN, FILE, BUFFER, COUNT, TYPE, REQUEST)    \
    X(File_iwrite_shared##c, NO, POST, FILE, SEND, PLAIN, FILE, BUFFER, COUNT, TYPE, REQUEST)      \
    X(File_read_ordered##c, NO, WAIT, FILE, RECEIVE, PLAIN, FILE, BUFFER, COUNT, TYPE, STATUS)     \
    X(File_write_ordered##c, NO, WAIT, FILE, SEND, PLAIN, FILE, BUFFER, COUNT, TYPE, STATUS)       \
    X(File_read_at_all_begin##c, NO, POST, FILE, RECEIVE, PLAIN, FILE, VALUE, BUFFER, COUNT, TYPE) \
    X(File_write_at_all_begin##c, NO, POST, FILE, SEND, PLAIN, FILE, VALUE, BUFFER, COUNT, TYPE)   \
    X(File_read_all_begin##c, NO, POST, FILE, RECEIVE, PLAIN, FILE, BUFFER, COUNT, TYPE)           \
    X(File_write_all_begin##c, NO, POST, FILE, SEND, PLAIN, FILE, BUFFER, COUNT, TYPE)             \
    X(File_read_ordered_begin##c, NO, POST, FILE, RECEIVE, PLAIN, FILE, BUFFER, COUNT, TYPE)       \
    X(File_write_ordered_begin##c, NO, POST, FILE, SEND, PLAIN, FILE, BUFFER, COUNT, TYPE)         \
    X(File_iread_at_all##c, NO, POST, FILE, RECEIVE, PLAIN, FILE, VALUE, BUFFER, COUNT, TYPE,      \
      REQUEST)                                                                                     \
    X(File_iwrite_at_all##c, NO, POST, FILE, SEND, PLAIN, FILE, VALUE, BUFFER, COUNT, TYPE,        \
      REQUEST)                                                                                     \
    X(File_iread_all##c, NO, POST, FILE, RECEIVE, PLAIN, FILE, BUFFER, COUNT, TYPE, REQUEST)       \
    X(File_iwrite_all##c, NO, POST, FILE, SEND, PLAIN, FILE, BUFFER, COUNT, TYPE, REQUEST)

#define SG_FUNCTIONS_FILES(X)                                                                      \
    X(File_open, F08(file_open, 2), WAIT, FILE, NONE, PLAIN, COMM, TEXT, VALUE, VALUE, NEW)        \
    X(File_close, F08(file_close, 1), WAIT, FILE, NONE, PLAIN, NEW)                                \
    X(File_delete, F08(file_delete, 2), WAIT, FILE, NONE, PLAIN, TEXT, VALUE)                      \
    X(File_set_size, F08(file_set_size, 1), WAIT, FILE, NONE, PLAIN, FILE, VALUE)                  \
    X(File_preallocate, F08(file_preallocate, 1), WAIT, FILE, NONE, PLAIN, FILE, VALUE)            \
    X(File_get_size, F08(file_get_size, 1), WAIT, FILE, NONE, PLAIN, FILE, VALUE)                  \
    X(File_set_info, F08(file_set_info, 1), WAIT, FILE, NONE, PLAIN, FILE, VALUE)                  \
    X(File_set_view, F08(file_set_view, 2), WAIT, FILE, NONE, PLAIN, FILE, VALUE, TYPE, TYPE,      \
      TEXT, VALUE)                                                                                 \
    X(File_seek_shared, F08(file_seek_shared, 1), WAIT, FILE, NONE, PLAIN, FILE, VALUE, VALUE)     \
    X(File_get_position_shared, F08(file_get_position_shared, 1), WAIT, FILE, NONE, PLAIN, FILE,   \
      VALUE)                                                                                       \
    X(File_read_at_all_end, NO, WAIT, FILE, NONE, PLAIN, FILE, BUFFER, STATUS)                     \
    X(File_write_at_all_end, NO, WAIT, FILE, NONE, PLAIN, FILE, BUFFER, STATUS)                    \
    X(File_read_all_end, NO, WAIT, FILE, NONE, PLAIN, FILE, BUFFER, STATUS)                        \
    X(File_write_all_end, NO, WAIT, FILE, NONE, PLAIN, FILE, BUFFER, STATUS)                       \
    X(File_read_ordered_end, NO, WAIT, FILE, NONE, PLAIN, FILE, BUFFER, STATUS)                    \
    X(File_write_ordered_end, NO, WAIT, FILE, NONE, PLAIN, FILE, BUFFER, STATUS)                   \
    X(File_set_atomicity, F08(file_set_atomicity, 1), WAIT, FILE, NONE, PLAIN, FILE, FLAG)         \
    X(File_sync, F08(file_sync, 1), WAIT, FILE, NONE, PLAIN, FILE)

#define SG_FUNCTIONS_COMMUNICATORS(X)                                                              \
    X(Comm_create, F08(comm_create, 1), WAIT, COMMUNICATOR, NONE, PLAIN, COMM, VALUE, NEW)         \
    X(Comm_create_group, F08(comm_create_group, 1), WAIT, COMMUNICATOR, NONE, PLAIN, COMM, VALUE,  \
      VALUE, NEW)                                                                                  \
    X(Comm_dup, NO, WAIT, COMMUNICATOR, NONE, OWN, COMM, NEW)                                      \
    X(Comm_dup_with_info, F08(comm_dup_with_info, 1), WAIT, COMMUNICATOR, NONE, PLAIN, COMM,       \
      VALUE, NEW)                                                                                  \
    X(Comm_free, NO, WAIT, COMMUNICATOR, NONE, OWN, OLD)                                           \
    X(Comm_idup, F08(comm_idup, 1), POST, COMMUNICATOR, NONE, PLAIN, COMM, NEW, REQUEST)           \
    X(Comm_idup_with_info, F08(comm_idup_with_info, 1), POST, COMMUNICATOR, NONE, PLAIN, COMM,     \
      VALUE, NEW, REQUEST)                                                                         \
    X(Comm_split, F08(comm_split, 1), WAIT, COMMUNICATOR, NONE, PLAIN, COMM, VALUE, VALUE, NEW)    \
    X(Comm_split_type, F08(comm_split_type, 1), WAIT, COMMUNICATOR, NONE, PLAIN, COMM, VALUE,      \
      VALUE, VALUE, NEW)                                                                           \
    X(Intercomm_create, F08(intercomm_create, 1), WAIT, COMMUNICATOR, NONE, PLAIN, COMM, VALUE,    \
      VALUE, VALUE, VALUE, NEW)                                                                    \
    X(Intercomm_create_from_groups, F08(intercomm_create_from_groups, 2), WAIT, COMMUNICATOR,      \
      NONE, PLAIN, VALUE, VALUE, VALUE, VALUE, TEXT, VALUE, VALUE, NEW)                            \
    X(Intercomm_merge, F08(intercomm_merge, 1), WAIT, COMMUNICATOR, NONE, PLAIN, COMM, VALUE, NEW) \
    X(Comm_create_from_group, F08(comm_create_from_group, 2), WAIT, COMMUNICATOR, NONE, PLAIN,     \
      VALUE, TEXT, VALUE, VALUE, NEW)                                                              \
    X(Comm_accept, F08(comm_accept, 2), WAIT, COMMUNICATOR, NONE, PLAIN, TEXT, VALUE, VALUE, COMM, \
      NEW)                                                                                         \
    X(Comm_connect, F08(comm_connect, 2), WAIT, COMMUNICATOR, NONE, PLAIN, TEXT, VALUE, VALUE,     \
      COMM, NEW)                                                                                   \
    X(Comm_disconnect, NO, WAIT, COMMUNICATOR, NONE, OWN, OLD)                                     \
    X(Comm_join, F08(comm_join, 1), WAIT, COMMUNICATOR, NONE, PLAIN, VALUE, NEW)                   \
    X(Comm_spawn, F08(comm_spawn, 3), WAIT, COMMUNICATOR, NONE, PLAIN, TEXT, TEXT, VALUE, VALUE,   \
      VALUE, COMM, NEW, VALUE)                                                                     \
    X(Comm_spawn_multiple, F08(comm_spawn_multiple, 3), WAIT, COMMUNICATOR, NONE, PLAIN, VALUE,    \
      TEXT, TEXT, VALUE, VALUE, VALUE, COMM, NEW, VALUE)                                           \
    X(Cart_create, F08(cart_create, 1), WAIT, COMMUNICATOR, NONE, PLAIN, COMM, VALUE, VALUE,       \
      VALUE, VALUE, NEW)                                                                           \
    X(Cart_sub, F08(cart_sub, 1), WAIT, COMMUNICATOR, NONE, PLAIN, COMM, VALUE, NEW)               \
    X(Dist_graph_create, F08(dist_graph_create, 1), WAIT, COMMUNICATOR, NONE, PLAIN, COMM, VALUE,  \
      VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, NEW)                                               \
    X(Dist_graph_create_adjacent, F08(dist_graph_create_adjacent, 1), WAIT, COMMUNICATOR, NONE,    \
      PLAIN, COMM, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, VALUE, NEW)                    \
    X(Graph_create, F08(graph_create, 1), WAIT, COMMUNICATOR, NONE, PLAIN, COMM, VALUE, VALUE,     \
      VALUE, VALUE, NEW)

#define SG_FUNCTIONS(X)                                                                            \
    SG_FUNCTIONS_MESSAGES_COUNTED(X, )                                                             \
    SG_FUNCTIONS_MESSAGES_COUNTED(X, _c)                                                           \
    SG_FUNCTIONS_MESSAGES(X)                                                                       \
    SG_FUNCTIONS_COLLECTIVES_COUNTED(X, )                                                          \
    SG_FUNCTIONS_COLLECTIVES_COUNTED(X, _c)                                                        \
    SG_FUNCTIONS_COLLECTIVES(X)                                                                    \
    SG_FUNCTIONS_ONE_SIDED_COUNTED(X, )                                                            \
    SG_FUNCTIONS_ONE_SIDED_COUNTED(X, _c)                                                          \
    SG_FUNCTIONS_ONE_SIDED(X)                                                                      \
    SG_FUNCTIONS_FILES_COUNTED(X, )                                                                \
    SG_FUNCTIONS_FILES_COUNTED(X, _c)                                                              \
    SG_FUNCTIONS_FILES(X)                                                                          \
    SG_FUNCTIONS_COMMUNICATORS(X)

#endif
