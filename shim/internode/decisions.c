#include "internode/decisions.h"

#if SG_INTERNODE_DECISIONS

#include "algos/decision.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void describe(const struct sg_internode *internode, uint32_t protocol,
                     struct sg_decision *decision)
{
    const struct sg_internode_protocol *info = &internode->protocols[protocol];

    memset(decision, 0, sizeof *decision);
    decision->communicator = internode->header->nonce;
    decision->protocol = protocol;
    while (sg_algos[decision->algo] != info->algo)
        decision->algo++;
    decision->rank = internode->endpoint;
    decision->size = internode->endpoints;
    decision->parameters = info->setup.parameters;
}

void sg_decisions_record(const struct sg_internode *internode, uint32_t protocol,
                         const struct sg_event *event, bool drain, const struct sg_actions *actions)
{
    struct sg_decision decision;
    char name[64];
    int file;

    describe(internode, protocol, &decision);
    decision.kind = drain ? SG_DECISION_DRAIN : event->kind;
    if (!drain && event->kind == SG_EVENT_CALL)
        decision.call = event->call;
    if (event->kind == SG_EVENT_MESSAGE)
        decision.message = event->message;
    if (event->kind == SG_EVENT_TIMER) {
        decision.timer = event->timer.id;
        decision.values[0] = event->timer.value;
    }
    if (event->kind == SG_EVENT_REPLY) {
        decision.tag = event->reply.tag;
        memcpy(decision.values, event->reply.value, sizeof decision.values);
    }
    decision.count = actions->count;
    decision.hash = sg_decision_hash(actions);
    snprintf(name, sizeof name, "decisions-%016llx-%d", (unsigned long long)decision.communicator,
             internode->endpoint);
    file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || write(file, &decision, sizeof decision) != (ssize_t)sizeof decision)
        _exit(99); /* the test sees it */
    close(file);
}

#endif
