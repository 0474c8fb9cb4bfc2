/* A transport within one process, for tests of the layers above: the same contract by the
 * plainest means. All endpoints' calls come from one thread at a time; nothing is atomic.
 *
 * Each receiver has a list of slots, all of one size: `inflight` for each sender, and some for
 * multicasts, where a new one replaces the oldest not yet received. The oldest message is
 * received first. All state is in the memory given to open, so several opens of it are one.
 */
#ifndef SG_TESTS_TRANSPORT_LOOP_H
#define SG_TESTS_TRANSPORT_LOOP_H

#include "transport/transport.h"

extern const struct sg_transport_ops loop;

#endif
