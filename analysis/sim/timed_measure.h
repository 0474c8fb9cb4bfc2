/* What papers 000 and 002 measure, for one protocol on one network: processor use of a reduction
 * under skew, synchronization delay and latency of a collective.
 */
#ifndef SG_SIM_TIMED_MEASURE_H
#define SG_SIM_TIMED_MEASURE_H

#include "sim/timed_queue.h"
#include "sim/timed_world.h"

#define SG_LATE_MAX 16
#define SG_SIM_ELEMENT_BYTES 8 /* an operand is of doubles */

/* A protocol with its parameters, as rules spell it: "adaptive(tokens=2)". */
struct sg_sim_algo {
    const struct sg_algo *algo;
    struct sg_algo_parameters parameters;
    char text[80];
};

/* "15:100", "1-3:50", "last:2x", "deepest:40": which ranks are late, and by how much. */
struct sg_sim_late {
    enum { SG_LATE_RANKS, SG_LATE_LAST, SG_LATE_DEEPEST } who;
    int32_t first, last;
    double amount;
    bool latencies; /* amount is in latencies without skew, else in us */
};

/* What all cases of a command have in common. */
struct sg_sim_options {
    struct sg_network network;
    enum sg_sim_mode mode;
    uint64_t seed;
    uint32_t iterations, warmup;
    int32_t ranks_per_node;
    enum sg_node_level node_level;
    int32_t endpoints_per_adapter; /* 0: 1 */
    int32_t root;
    uint32_t chunk_bytes; /* as in setup.h */
    uint32_t flags;       /* SG_CALL_* of the operation */
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

/* A reduction's processor use is measured for the skew and for this time, which is longer than any
 * reduction takes once all ranks have called. */
uint64_t sg_measure_settle_ns(const struct sg_world_setup *setup);
/* Processor use of a reduction or broadcast, and the other figures of the run. */
enum sg_status sg_measure_cpu(const struct sg_sim_options *options, const struct sg_sim_case *one,
                              struct sg_world_result *result);
/* The same for MPICH's blocking binomial reduction or broadcast, with its copies, instead of the
 * case's protocol. */
enum sg_status sg_measure_blocking(const struct sg_sim_options *options,
                                   const struct sg_sim_case *one, struct sg_world_result *result);
/* Synchronization delay, in the same way. */
enum sg_status sg_measure_delay(const struct sg_sim_options *options, const struct sg_sim_case *one,
                                struct sg_world_result *result);
/* Mean time of a call if all ranks call again at once, without skew: *latency_ns. */
enum sg_status sg_measure_latency(const struct sg_sim_options *options,
                                  const struct sg_sim_case *one, double *latency_ns);

/* What a program's processes do in a timed world (setup.h): the program says what a process does
 * next, by the functions below, whenever the world resumes it.
 *
 * A process that has been resumed may post and look at the time; then it computes, waits, calls or
 * ends: one of these, last. All times are the world's. The program keeps its own state of each
 * process, and learns from `deliver` what has become of its posts.
 */

uint64_t sg_world_now_ns(const struct world *world);
/* In resume: posts for the process, whose rank in its endpoint is filled in, and its number. More
 * than parameters.posts wait at the endpoint in their order. An IPROBE is delivered before this
 * returns. */
void sg_world_post(struct world *world, int32_t process, const struct sg_algo_post *post);
/* In resume, as its last: resumed after so much time, in which it handles nothing unless it is
 * interrupted; */
void sg_world_compute(struct world *world, int32_t process, uint64_t ns);
/* ... once sg_world_resume is called, by `deliver`; until then the process polls; */
void sg_world_wait(struct world *world, int32_t process);
/* ... once the collective is over, which is not cut; */
void sg_world_call(struct world *world, int32_t process, const struct sg_algo_call *call);
/* ... or never. The process polls, as in MPI_Finalize. */
void sg_world_end(struct world *world, int32_t process);
/* In deliver, of a process that waits. */
void sg_world_resume(struct world *world, int32_t process);

#endif
