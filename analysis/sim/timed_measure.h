/* Measures one protocol on one network as papers 000 and 002 do: processor use of a reduction under
 * skew, synchronization delay and latency of a collective. Also declares the functions by which a
 * program drives the processes of a timed world. */
#ifndef SG_SIM_TIMED_MEASURE_H
#define SG_SIM_TIMED_MEASURE_H

#include "sim/timed_queue.h"

#define SG_LATE_MAX 16
#define SG_SIM_ELEMENT_BYTES 8 /* operands are doubles */

/* A protocol with its parameters, spelled as in rules: "adaptive(tokens=2)". */
struct sg_sim_algo {
    const struct sg_algo *algo;
    struct sg_algo_parameters parameters;
    char text[80];
};

/* Late ranks and their delay: "15:100", "1-3:50", "last:2x", "deepest:40". */
struct sg_sim_late {
    enum { SG_LATE_RANKS, SG_LATE_LAST, SG_LATE_DEEPEST } who;
    int32_t first, last;
    double amount;
    bool latencies; /* amount is a multiple of the latency without skew, else us */
};

/* Settings shared by all cases of a command. */
struct sg_sim_options {
    struct sg_network network;
    enum sg_sim_mode mode;
    uint64_t seed;
    uint32_t iterations, warmup;
    int32_t ranks_per_node;
    enum sg_node_level node_level;
    int32_t endpoints_per_adapter; /* 0: 1 */
    int32_t root;
    uint32_t chunk_bytes; /* as in timed_queue.h */
    uint32_t flags;       /* the operation's SG_CALL_* flags */
    bool data;
};

struct sg_sim_case {
    const struct sg_sim_algo *algo;
    enum sg_operation operation;
    int32_t nodes;
    uint32_t bytes;
    uint64_t skew_ns;
    const struct sg_sim_late *late;
    uint32_t late_count;
    bool mpich_copies;
};

/* Measurements of processor use cover the skew and this time, which is longer than any reduction
 * takes once all ranks have called. */
uint64_t sg_measure_settle_ns(const struct sg_world_setup *setup);
/* Processor use of a reduction or broadcast, and the other figures of the run. */
enum sg_status sg_measure_cpu(const struct sg_sim_options *options, const struct sg_sim_case *one,
                              struct sg_world_result *result);
/* The same for MPICH's blocking binomial reduction or broadcast, with its copies, in place of the
 * case's protocol. */
enum sg_status sg_measure_blocking(const struct sg_sim_options *options,
                                   const struct sg_sim_case *one, struct sg_world_result *result);
/* Synchronization delay, in the same way. */
enum sg_status sg_measure_delay(const struct sg_sim_options *options, const struct sg_sim_case *one,
                                struct sg_world_result *result);
/* Mean time of a call if all ranks call again at once, without skew. */
enum sg_status sg_measure_latency(const struct sg_sim_options *options,
                                  const struct sg_sim_case *one, double *latency_ns);

/* Programs in a timed world (timed_queue.h): whenever the world resumes a process, the program
 * decides its next step with the functions below.
 *
 * A resumed process may post and read the clock; its last step is exactly one of compute, wait,
 * call and end. All times are the world's. The program keeps its own state for each process, and
 * its `deliver` learns the outcome of posts. */

uint64_t sg_world_now_ns(const struct world *world);
/* In resume: posts for the process; fills in its rank within the endpoint and the post's number.
 * Posts beyond parameters.posts wait at the endpoint in order. An IPROBE is delivered before this
 * returns. */
void sg_world_post(struct world *world, int32_t process, const struct sg_algo_post *post);
/* In resume, last step: the world resumes the process after this time. Until then it handles
 * nothing unless it is interrupted. */
void sg_world_compute(struct world *world, int32_t process, uint64_t ns);
/* In resume, last step: the process polls until `deliver` calls sg_world_resume. */
void sg_world_wait(struct world *world, int32_t process);
/* In resume, last step: the world resumes the process when the collective, which is not cut into
 * chunks, is over. */
void sg_world_call(struct world *world, int32_t process, const struct sg_algo_call *call);
/* In resume, last step: the process never resumes. It polls, as in MPI_Finalize. */
void sg_world_end(struct world *world, int32_t process);
/* In deliver, for a process that waits. */
void sg_world_resume(struct world *world, int32_t process);

#endif
