#include "transport/verbs/trial.h"

#include "core/hash.h"
#include "transport/verbs/device.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Longer than all retries of a queue pair. */
#define WAIT_SECONDS 30
#define ADDEND 3

bool sg_verbs_trial_open(struct sg_verbs_trial *trial, uint32_t links)
{
    trial->pairs = calloc(links, sizeof(struct ibv_qp *));
    trial->queue = ibv_create_cq(sg_verbs_device.context, 16, NULL, NULL, 0);
    return trial->pairs != NULL && trial->queue != NULL;
}

bool sg_verbs_trial_add(struct sg_verbs_trial *trial)
{
    struct ibv_qp_init_attr wanted = {
        .send_cq = trial->queue,
        .recv_cq = trial->queue,
        .cap = {.max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_RC,
    };

    trial->pairs[trial->count] = ibv_create_qp(sg_verbs_device.domain, &wanted);
    trial->count += trial->pairs[trial->count] != NULL;
    return trial->count > 0 && trial->pairs[trial->count - 1] != NULL;
}

void sg_verbs_trial_close(struct sg_verbs_trial *trial)
{
    for (uint32_t i = 0; i < trial->count; i++)
        ibv_destroy_qp(trial->pairs[i]);
    if (trial->queue != NULL)
        ibv_destroy_cq(trial->queue);
    free(trial->pairs);
}

/* The request's operation. */
static enum ibv_wc_status carry_out(const struct sg_verbs_trial *trial, struct ibv_qp *pair,
                                    struct ibv_send_wr *request)
{
    time_t end = time(NULL) + WAIT_SECONDS;
    struct ibv_send_wr *bad;
    struct ibv_wc completion = {.status = IBV_WC_RESP_TIMEOUT_ERR};
    int count;

    if (ibv_post_send(pair, request, &bad) != 0)
        return IBV_WC_LOC_QP_OP_ERR;
    while ((count = ibv_poll_cq(trial->queue, 1, &completion)) == 0 && time(NULL) <= end)
        sched_yield();
    return count < 0 ? IBV_WC_GENERAL_ERR : completion.status;
}

/* The words are this process's alone, at either end. */
bool sg_verbs_try(struct sg_transport *transport, const struct sg_verbs_trial *trial,
                  uint32_t index, const struct sg_verbs_link *link, char *reason)
{
    static const struct {
        enum ibv_wr_opcode opcode;
        const char *what;
    } steps[] = {{IBV_WR_RDMA_WRITE, "write"},
                 {IBV_WR_RDMA_READ, "read"},
                 {IBV_WR_ATOMIC_FETCH_AND_ADD, "fetch-and-add"}};
    const struct sg_verbs_peer *peer = &transport->peers[link->channel];
    size_t server = (size_t)transport->location.server;
    volatile uint64_t *word = &sg_verbs_told(transport, link->channel)->trying[server];
    size_t at = transport->layout.told_at + peer->channel * sizeof(struct sg_verbs_told) +
                offsetof(struct sg_verbs_told, tried) + server * sizeof *word;
    uint64_t remote = link->memory + sg_verbs_endpoint_at(transport, peer->index) + at;
    uint64_t written = sg_hash_mix((uint64_t)time(NULL) << 32 | (uint64_t)link->rank << 16 | index);
    struct ibv_sge piece = {(uintptr_t)word, sizeof *word, transport->memory->lkey};

    for (int i = 0; i < (transport->location.adds ? 3 : 2); i++) {
        struct ibv_send_wr request = {.sg_list = &piece,
                                      .num_sge = 1,
                                      .opcode = steps[i].opcode,
                                      .send_flags = IBV_SEND_SIGNALED};
        enum ibv_wc_status status;

        *word = i == 0 ? written : 0;
        if (steps[i].opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
            request.wr.atomic.remote_addr = remote;
            request.wr.atomic.compare_add = ADDEND;
            request.wr.atomic.rkey = link->key;
        } else {
            request.wr.rdma.remote_addr = remote;
            request.wr.rdma.rkey = link->key;
        }
        status = carry_out(trial, trial->pairs[index], &request);
        if (status == IBV_WC_SUCCESS && *word == written)
            continue;
        snprintf(reason, SG_VERBS_REASON_BYTES, "a %s at rank %d by device %s fails: %s",
                 steps[i].what, link->rank, sg_verbs_device.name,
                 status == IBV_WC_SUCCESS ? "its value is another" : ibv_wc_status_str(status));
        return false;
    }
    return true;
}
