/* struct sg_exchange over socket pairs between forked processes, to test collective code.
 *
 *     exchange_fork(3, run, context);    calls run(exchange, context) as ranks 0, 1 and 2
 *
 * Rank 0 is the calling process, so its assertions count. The other ranks report by their exit
 * status, the return value of run.
 */
#ifndef SG_TESTS_EXCHANGE_FORK_H
#define SG_TESTS_EXCHANGE_FORK_H

#include "core/exchange.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXCHANGE_FORK_MAX 16

struct exchange_fork {
    struct sg_exchange exchange;
    int sockets[EXCHANGE_FORK_MAX]; /* rank 0: one per rank; others: [0] leads to rank 0 */
};

static inline enum sg_status exchange_fork_write(int socket, const void *data, size_t size_bytes)
{
    const char *from = data;

    while (size_bytes > 0) {
        ssize_t done = send(socket, from, size_bytes, MSG_NOSIGNAL);

        if (done <= 0 && errno != EINTR)
            return SG_ERR_SYSTEM;
        if (done > 0) {
            from += done;
            size_bytes -= (size_t)done;
        }
    }
    return SG_OK;
}

static inline enum sg_status exchange_fork_read(int socket, void *data, size_t size_bytes)
{
    char *to = data;

    while (size_bytes > 0) {
        ssize_t done = recv(socket, to, size_bytes, 0);

        if (done == 0 || (done < 0 && errno != EINTR))
            return SG_ERR_SYSTEM;
        if (done > 0) {
            to += done;
            size_bytes -= (size_t)done;
        }
    }
    return SG_OK;
}

static inline enum sg_status exchange_fork_gather(void *context, const void *data,
                                                  size_t size_bytes, void **all, size_t *sizes)
{
    struct exchange_fork *fork = context;
    uint64_t size = size_bytes;
    size_t total = size_bytes;
    enum sg_status status = SG_OK;

    if (fork->exchange.rank != 0) {
        status = exchange_fork_write(fork->sockets[0], &size, sizeof size);
        return status == SG_OK ? exchange_fork_write(fork->sockets[0], data, size_bytes) : status;
    }
    char *bytes = malloc(size_bytes + 1);
    if (size_bytes > 0)
        memcpy(bytes, data, size_bytes);
    sizes[0] = size_bytes;
    for (int rank = 1; rank < fork->exchange.size && status == SG_OK; rank++) {
        status = exchange_fork_read(fork->sockets[rank], &size, sizeof size);
        if (status != SG_OK)
            break;
        bytes = realloc(bytes, total + size + 1);
        status = exchange_fork_read(fork->sockets[rank], bytes + total, size);
        sizes[rank] = size;
        total += size;
    }
    *all = bytes;
    return status;
}

static inline enum sg_status exchange_fork_broadcast(void *context, void *data, size_t size_bytes)
{
    struct exchange_fork *fork = context;
    enum sg_status status = SG_OK;

    if (fork->exchange.rank != 0)
        return exchange_fork_read(fork->sockets[0], data, size_bytes);
    for (int rank = 1; rank < fork->exchange.size && status == SG_OK; rank++)
        status = exchange_fork_write(fork->sockets[rank], data, size_bytes);
    return status;
}

/* Works only between rank 0 and another rank. */
static inline enum sg_status exchange_fork_send(void *context, int to, const void *data,
                                                size_t size_bytes)
{
    struct exchange_fork *fork = context;

    return exchange_fork_write(fork->sockets[to], data, size_bytes);
}

static inline enum sg_status exchange_fork_receive(void *context, int from, void *data,
                                                   size_t size_bytes)
{
    struct exchange_fork *fork = context;

    return exchange_fork_read(fork->sockets[from], data, size_bytes);
}

/* Returns 1 if run returned 0 on every rank, else 0. */
static inline int exchange_fork(int size, int (*run)(const struct sg_exchange *, void *),
                                void *context)
{
    struct exchange_fork mine = {.exchange = {.rank = 0, .size = size}};
    pid_t children[EXCHANGE_FORK_MAX];
    int all_well = 1;

    mine.exchange.gather = exchange_fork_gather;
    mine.exchange.broadcast = exchange_fork_broadcast;
    mine.exchange.send = exchange_fork_send;
    mine.exchange.receive = exchange_fork_receive;
    mine.exchange.context = &mine;
    for (int rank = 1; rank < size; rank++) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            abort();
        children[rank] = fork();
        if (children[rank] < 0)
            abort();
        if (children[rank] == 0) {
            mine.exchange.rank = rank;
            mine.sockets[0] = pair[1];
            close(pair[0]);
            _exit(run(&mine.exchange, context));
        }
        close(pair[1]);
        mine.sockets[rank] = pair[0];
    }
    all_well = run(&mine.exchange, context) == 0;
    for (int rank = 1; rank < size; rank++) {
        int status = 0;

        close(mine.sockets[rank]);
        if (waitpid(children[rank], &status, 0) != children[rank] || status != 0)
            all_well = 0;
    }
    return all_well;
}

#endif
