/* What the claims on InfiniBand owe to their inputs: each is measured anew with the multicast that
 * the network's other values predict instead of the fitted one, and with paper 002's hosts, 8 nodes
 * of two processes that share an adapter. */
#include "sim/output.h"
#include "sim/papers/claims.h"

#include <string.h>

#define INFINIBAND "infiniband-sdr"
#define INPUTS 3 /* as it is, L + 2o, two processes a node */

struct input {
    char text[SG_CLAIM_TEXT];
    bool met;
};

static enum sg_status measure(struct sg_claim_context *context, struct input inputs[INPUTS])
{
    struct sg_network network;

    context->status = sg_network_read("sim", context->claim->network, &network);
    for (int i = 0; i < INPUTS && context->status == SG_OK; i++) {
        context->options.network = network;
        context->options.endpoints_per_adapter = i == 2 ? 2 : 1;
        if (i == 1)
            context->options.network.multicast_us = 0;
        inputs[i].text[0] = '\0';
        inputs[i].met = context->claim->measure(context, inputs[i].text);
    }
    context->options.endpoints_per_adapter = 1;
    return context->status;
}

/* A claim that continues one that is not shown is shown with it. */
static void print_what(const struct sg_claim *claims, int index, int shown)
{
    int head = index;

    while (head > 0 && strncmp(claims[head].what, "...", 3) == 0)
        head--;
    if (head != index && head > shown)
        printf("| %s: %s", claims[head].what, claims[index].what + 4);
    else
        printf("| %s", claims[index].what);
}

static enum sg_status print_claims(struct sg_claim_context *context, const struct sg_claim *claims,
                                   int count)
{
    int shown = -1;

    for (int i = 0; i < count; i++) {
        struct input inputs[INPUTS];

        if (strcmp(claims[i].network, INFINIBAND) != 0)
            continue;
        context->claim = &claims[i];
        if (measure(context, inputs) != SG_OK)
            return context->status;
        if (strcmp(inputs[0].text, inputs[1].text) == 0 &&
            strcmp(inputs[0].text, inputs[2].text) == 0)
            continue;
        print_what(claims, i, shown);
        printf(" | %s | %s: %s | %s: %s | %s |\n", claims[i].goal, inputs[1].text,
               inputs[1].met ? "holds" : "does not hold", inputs[2].text,
               inputs[2].met ? "holds" : "does not hold",
               inputs[0].met && inputs[1].met && inputs[2].met ? "yes" : "no");
        fflush(stdout);
        shown = i;
    }
    return SG_OK;
}

enum sg_status sg_claims_print_inputs(struct sg_claim_context *context)
{
    enum sg_status status;

    puts("\n## What depends on the multicast and the hosts\n\n"
         "The multicast of 12 us is paper 002's own result. The same claims with L + 2o instead,\n"
         "and with 8 nodes of two processes, which share an adapter.\n\n"
         "| what | goal | multicast of L + 2o | two processes a node | either way |\n"
         "| --- | --- | --- | --- | --- |");
    status = print_claims(context, sg_claims_adaptive, sg_claims_adaptive_count);
    return status == SG_OK ? print_claims(context, sg_claims_beyond, sg_claims_beyond_count)
                           : status;
}
