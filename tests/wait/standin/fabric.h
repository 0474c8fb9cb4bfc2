/* A libfabric of a few lines: the part of its public interface that MPICH's progress loop uses,
 * with the names of that interface. fi_fabric's attribute is here a struct standin. */
#ifndef SG_TESTS_WAIT_STANDIN_FABRIC_H
#define SG_TESTS_WAIT_STANDIN_FABRIC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fid {
    size_t fclass;
    void *context;
    void *ops;
};

struct fid_fabric {
    struct fid fid;
    struct fi_ops_fabric *ops;
    uint32_t api_version;
};

struct fid_domain {
    struct fid fid;
    struct fi_ops_domain *ops;
    void *mr;
};

struct fid_cq {
    struct fid fid;
    struct fi_ops_cq *ops;
};

struct fi_ops_fabric {
    size_t size;
    int (*domain)(struct fid_fabric *fabric, void *info, struct fid_domain **domain, void *context);
    int (*passive_ep)(void);
    int (*eq_open)(void);
    int (*wait_open)(void);
    int (*trywait)(void);
};

struct fi_ops_domain {
    size_t size;
    int (*av_open)(void);
    int (*cq_open)(struct fid_domain *domain, void *attributes, struct fid_cq **queue,
                   void *context);
    int (*endpoint)(void);
    int (*others[8])(void);
};

struct fi_ops_cq {
    size_t size;
    ssize_t (*read)(struct fid_cq *queue, void *buffer, size_t count);
    ssize_t (*readfrom)(struct fid_cq *queue, void *buffer, size_t count, uint64_t *source);
    ssize_t (*readerr)(void);
    ssize_t (*sread)(void);
    ssize_t (*sreadfrom)(void);
    int (*signal)(void);
    const char *(*strerror)(void);
};

/* Tables of the objects that come out of a fabric, and the results of its queues. */
struct standin {
    struct fi_ops_fabric *fabric;
    struct fi_ops_domain *domain;
    struct fi_ops_cq *queue;
    int status; /* of fi_fabric, and of what makes a domain and a queue */
};

/* A queue: context is what its next read returns, and reads are counted. */
struct standin_queue {
    struct fid_cq queue;
    ssize_t events;
    int reads;
    void *buffer;
    size_t count;
    int number; /* of the function that was called: tables may have different ones */
};

/* Functions of the stand-in for MPICH, and of the other caller. */
struct standin_user {
    int (*open)(struct standin *standin, struct fid_fabric **fabric);
    int (*init)(int *argc, char ***argv);
};

int fi_fabric(void *attributes, struct fid_fabric **fabric, void *context);
uint32_t fi_version(void);

#endif
