/* A small deterministic host for unit tests of protocols: all endpoints of one communicator in
 * memory, virtual time, and delivery either by hand (mini_deliver, mini_fire ...) or at random by
 * seed (mini_settle, mini_drive).
 *
 * The host checks the protocol with CUnit's fatal assertions: every COMPLETE and FINISH comes
 * once and only where due; no barrier or allreduce is left before all have entered; slots, cells,
 * actions and state stay within the limits of needs(); no state holds a pointer into itself (it
 * changes its address before each event); operands, results and messages are poisoned once the
 * protocol no longer owns them.
 *
 * Payload: 64-bit elements. An operation that is EXACT adds, one that is only COMMUTATIVE mixes
 * symmetrically, any other mixes in a way that neither commutes nor associates. So equal results
 * mean equal associations.
 */
#ifndef SG_TESTS_ALGOS_MINI_HOST_H
#define SG_TESTS_ALGOS_MINI_HOST_H

#include "algos/algo.h"

#define MINI_BYTES_MAX 32
#define MINI_INSTANCES_MAX 1024

struct mini_host;

struct mini_setup {
    const struct sg_algo *algo;
    int size;
    struct sg_algo_parameters parameters;
    uint64_t seed;
    int loss_percent;   /* of the copies of a multicast, each by itself, that never arrive */
    int repeat_percent; /* ... that arrive twice */
};

struct mini_host *mini_new(const struct mini_setup *setup);
void mini_free(struct mini_host *host);

/* ---- values ---- */

uint64_t mini_operand(int rank, uint32_t seq, int element);
uint64_t mini_fold(uint32_t flags, uint64_t left, uint64_t right);

/* ---- by hand ---- */

/* Feeds the CALL. The endpoint must be outside of a call. */
void mini_call(struct mini_host *host, int rank, const struct sg_algo_call *call);
/* ... at each endpoint of a text: "2 3 . 0"; a point settles. */
void mini_calls(struct mini_host *host, const struct sg_algo_call *call, const char *ranks);
/* ... at every endpoint, in order of rank. */
void mini_call_all(struct mini_host *host, const struct sg_algo_call *call);

/* Feeds the POST. The test chooses the handle, which names one post of this endpoint for ever. */
void mini_post(struct mini_host *host, int rank, const struct sg_algo_post *post);
/* Gets the delivery of the post with this handle; delivery may be NULL. False: the post is not
 * over. */
bool mini_delivered(const struct mini_host *host, int rank, uint32_t handle,
                    struct sg_action *delivery);
/* Returns the handle of the message whose bytes a receive got. The host checks that all came,
 * once each. */
uint32_t mini_received(const struct mini_host *host, int rank, uint32_t handle);

/* Number of messages in flight; -1 stands for any endpoint. */
int mini_in_flight(const struct mini_host *host, int from, int to);
/* Delivers, drops or doubles the oldest message in flight. False: there is none. */
bool mini_deliver(struct mini_host *host, int from, int to);
bool mini_lose(struct mini_host *host, int from, int to);
bool mini_repeat(struct mini_host *host, int from, int to);

/* A held endpoint takes no event in mini_settle and mini_drive. Others still access its slots and
 * cells. */
void mini_hold(struct mini_host *host, int rank, bool held);

/* Advances the time; no timer fires by itself. */
void mini_advance(struct mini_host *host, uint64_t time_ns);
/* Fires a timer, advancing the time to it if need be. False: it is not set. */
bool mini_fire(struct mini_host *host, int rank, uint32_t id);

/* ---- at random, by the seed ---- */

/* Runs everything except timers, until nothing is left to do. */
void mini_settle(struct mini_host *host);
/* Runs everything and timers, until only calls could do more or every call made has its FINISH. */
void mini_finish(struct mini_host *host);
/* Makes these calls at every endpoint, in order, between random deliveries; then drains. */
void mini_drive(struct mini_host *host, const struct sg_algo_call *calls, int count);
/* Drains everywhere, finishes, and checks that nothing is outstanding. */
void mini_drain(struct mini_host *host);
/* Drains, and frees the host. */
void mini_end(struct mini_host *host);

/* ---- results ---- */

bool mini_completed(const struct mini_host *host, int rank, uint32_t seq);
bool mini_finished(const struct mini_host *host, int rank, uint32_t seq);
/* An element of the result, as it was when the call completed (split: when it finished). */
uint64_t mini_result(const struct mini_host *host, int rank, uint32_t seq, int element);

const struct sg_algo_head *mini_head(const struct mini_host *host, int rank);
/* 1 << enum sg_mark; rank -1: of all. */
uint64_t mini_marks(const struct mini_host *host, int rank);
/* Actions of a kind carried out so far; rank -1: of all. */
int mini_actions(const struct mini_host *host, int rank, enum sg_action_kind kind);
/* Returns the number of finished slices at an endpoint, and the last of them, if any. */
int mini_slices(const struct mini_host *host, int rank, struct sg_slice *last);
/* Returns the most messages that were ever in flight from one endpoint to another. */
int mini_most_in_flight(const struct mini_host *host);

#endif
