/* Shared by the stand-in's files: the devices that the environment describes, and a process's one
 * open device with its queue pairs.
 */
#ifndef SG_TESTS_STANDIN_DEVICE_H
#define SG_TESTS_STANDIN_DEVICE_H

#include "wire.h"

#include <infiniband/verbs.h>
#include <pthread.h>

#define PORTS_MAX 2
#define PAIRS_MAX 4096
#define REGIONS_MAX 256
#define PAIR_BITS 12

struct port {
    struct wire_port wire;
    bool is_up;
};

struct device {
    struct ibv_device base;
    int ports;
    bool has_atomics;
    struct port port[PORTS_MAX];
};

struct request {
    struct ibv_send_wr work; /* its pointers are not valid */
    struct ibv_sge piece;
    bool is_over;
    enum ibv_wc_status status;
};

struct pair {
    struct ibv_qp base;
    struct ibv_qp_attr attr;
    uint32_t depth, posted, retired; /* positions in the ring of requests */
    struct request *requests;
};

struct queue {
    struct ibv_cq base;
    int room, first, count;
    int armed; /* 0: no; 1: for solicited completions; 2: for all */
    struct ibv_wc *completions;
};

struct receives {
    struct ibv_srq base;
    uint32_t room, first, count;
    uint64_t *ids;
};

/* The open device of this process. The lock protects all members. */
struct adapter {
    struct ibv_context context; /* must be the first member */
    struct device *device;
    uint32_t inbox;
    pthread_t thread;
    bool ends;
    pthread_mutex_t lock;
    struct pair *pairs[PAIRS_MAX];
    struct ibv_mr *regions[REGIONS_MAX];
};

/* True if STANDIN_FAULTS of this process's adapter contains the word. */
bool standin_has_fault(const char *word);

void gid_of(const struct wire_port *port, uint32_t inbox, int index, union ibv_gid *gid,
            uint32_t *type);
#define GIDS 4

/* engine.c */
void engine_start(struct adapter *adapter);
void engine_stop(struct adapter *adapter);
/* Places all written data in memory. The caller holds the lock. */
void engine_settle(void);
/* Fails a request and its queue pair. The caller holds the lock. */
void engine_refuse(struct pair *pair, const struct ibv_send_wr *work, enum ibv_wc_status status);

/* verbs.c: installs the functions that programs call through the context. */
void verbs_start(struct ibv_context *context);

#endif
