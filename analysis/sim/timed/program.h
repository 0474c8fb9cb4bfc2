/* What a program's processes do in a timed world (setup.h): the program says what a process does
 * next, by the functions below, whenever the world resumes it.
 *
 * A process that has been resumed may post and look at the time; then it computes, waits, calls or
 * ends: one of these, last. All times are the world's. The program keeps its own state of each
 * process, and learns from `deliver` what has become of its posts.
 */
#ifndef SG_SIM_TIMED_PROGRAM_H
#define SG_SIM_TIMED_PROGRAM_H

#include "sim/timed/setup.h"

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
