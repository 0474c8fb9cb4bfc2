#include "core/account.h"

#include "core/tick.h"

#include <stddef.h>

#ifdef SG_ACCOUNT

#define EXPORTED __attribute__((visibility("default")))
#define TRIES 200
#define ROWS 20

__thread uint64_t (*sg_account_row)[SG_ACCOUNT_STEPS] __attribute__((tls_model("initial-exec")));

EXPORTED void sg_account_set(uint64_t (*room)[SG_ACCOUNT_STEPS]);
EXPORTED double sg_account_cost(void);

void sg_account_set(uint64_t (*room)[SG_ACCOUNT_STEPS])
{
    sg_account_row = room != NULL ? room - 1 : NULL;
}

/* The least average over several tries of consecutive marks. */
double sg_account_cost(void)
{
    uint64_t rows[ROWS + 1][SG_ACCOUNT_STEPS], least = UINT64_MAX;

    if (!sg_tick_is_trusted("/sys"))
        return 0;
    for (int i = 0; i < TRIES; i++) {
        uint64_t begin, passed;

        sg_account_set(rows + 1);
        begin = sg_cpu_counter();
        for (int row = 0; row < ROWS; row++) {
            sg_account_enter();
            for (int step = SG_ACCOUNT_ENTERED + 1; step < SG_ACCOUNT_STEPS; step++)
                sg_account_mark((enum sg_account_step)step);
        }
        passed = sg_cpu_counter() - begin;
        least = passed < least ? passed : least;
    }
    sg_account_set(NULL);
    return (double)least / (ROWS * SG_ACCOUNT_STEPS);
}

#endif
