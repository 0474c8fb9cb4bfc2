#include "core/epoch.h"

enum sg_status sg_epoch_agree(const struct sg_exchange *exchange, uint64_t machine,
                              uint64_t (*clock_ns)(void), const struct sg_clocksync *clocks,
                              uint64_t *epoch_ns)
{
    struct sg_clocksync *own = NULL;
    uint64_t agreed_ns = clock_ns();
    enum sg_status status = SG_OK;

    *epoch_ns = agreed_ns;
    if (clocks == NULL) {
        status = sg_clocksync_open(exchange, machine, clock_ns, SG_CLOCKSYNC_TREE, &own);
        if (status == SG_OK)
            status = sg_clocksync_measure(own, NULL);
        clocks = own;
    }
    if (status == SG_OK)
        status = exchange->broadcast(exchange->context, &agreed_ns, sizeof agreed_ns);
    /* The machine's ranks have one model, so that they have one epoch. */
    if (status == SG_OK)
        *epoch_ns = sg_clock_model_local(sg_clocksync_model(clocks), agreed_ns);
    sg_clocksync_close(own);
    return status;
}
