#include "bench/call_account.h"

#include <stdlib.h>

const char *const sg_bench_part_names[SG_BENCH_PARTS] = {[SG_BENCH_PART_WRAPPER] = "wrapper",
                                                         [SG_BENCH_PART_COMM] = "communicator",
                                                         [SG_BENCH_PART_SITE] = "site",
                                                         [SG_BENCH_PART_CHOICE] = "choice",
                                                         [SG_BENCH_PART_PLAN] = "plan",
                                                         [SG_BENCH_PART_SLOT] = "slot",
                                                         [SG_BENCH_PART_PUBLISH] = "publish",
                                                         [SG_BENCH_PART_TRANSFER] = "transfer",
                                                         [SG_BENCH_PART_SEE] = "see",
                                                         [SG_BENCH_PART_FOLD] = "fold",
                                                         [SG_BENCH_PART_LEAVE] = "leave",
                                                         [SG_BENCH_PART_RECORD] = "record",
                                                         [SG_BENCH_PART_STATISTICS] = "statistics",
                                                         [SG_BENCH_PART_CLOCK] = "clock",
                                                         [SG_BENCH_PART_ARGUMENTS] = "arguments",
                                                         [SG_BENCH_PART_THREAD] = "thread",
                                                         [SG_BENCH_PART_BYTES] = "bytes",
                                                         [SG_BENCH_PART_REQUESTS] = "requests",
                                                         [SG_BENCH_PART_CAUSES] = "causes",
                                                         [SG_BENCH_PART_MPI] = "mpi"};

/* The part that the time before each mark belongs to. */
static const enum sg_bench_part part_of[SG_ACCOUNT_STEPS] = {
    [SG_ACCOUNT_ENTERED] = SG_BENCH_PART_WRAPPER,
    [SG_ACCOUNT_KEPT] = SG_BENCH_PART_ARGUMENTS,
    [SG_ACCOUNT_COMM] = SG_BENCH_PART_COMM,
    [SG_ACCOUNT_SITE] = SG_BENCH_PART_SITE,
    [SG_ACCOUNT_CHOICE] = SG_BENCH_PART_CHOICE,
    [SG_ACCOUNT_OPENED] = SG_BENCH_PART_RECORD,
    [SG_ACCOUNT_BEGUN] = SG_BENCH_PART_CLOCK,
    [SG_ACCOUNT_RECORD] = SG_BENCH_PART_RECORD,
    [SG_ACCOUNT_PRESENT] = SG_BENCH_PART_THREAD,
    [SG_ACCOUNT_SLOT] = SG_BENCH_PART_SLOT,
    [SG_ACCOUNT_PLAN] = SG_BENCH_PART_PLAN,
    [SG_ACCOUNT_PUBLISH] = SG_BENCH_PART_PUBLISH,
    [SG_ACCOUNT_SEE] = SG_BENCH_PART_SEE,
    [SG_ACCOUNT_FOLD] = SG_BENCH_PART_FOLD,
    [SG_ACCOUNT_LEAVE] = SG_BENCH_PART_LEAVE,
    [SG_ACCOUNT_CALLED] = SG_BENCH_PART_MPI,
    [SG_ACCOUNT_ENDED] = SG_BENCH_PART_CLOCK,
    [SG_ACCOUNT_PAST] = SG_BENCH_PART_THREAD,
    [SG_ACCOUNT_MOVED] = SG_BENCH_PART_BYTES,
    [SG_ACCOUNT_RECORDED] = SG_BENCH_PART_RECORD,
    [SG_ACCOUNT_FOLLOWED] = SG_BENCH_PART_REQUESTS,
    [SG_ACCOUNT_AWAITED] = SG_BENCH_PART_REQUESTS,
    [SG_ACCOUNT_COUNTED] = SG_BENCH_PART_STATISTICS,
    [SG_ACCOUNT_SAMPLED] = SG_BENCH_PART_CAUSES,
    [SG_ACCOUNT_RETURN] = SG_BENCH_PART_WRAPPER};

/* A mark in a rank's call. */
struct place {
    int rank;
    size_t call;
    int step;
};

static uint64_t at(const sg_bench_marks *const *ranks, struct place place)
{
    return ranks[place.rank][place.call][place.step];
}

/* Moves to the previous mark on the same rank; false: there is none. */
static bool step_back(const sg_bench_marks *const *ranks, struct place *place)
{
    do {
        if (place->step == 0 && place->call == 0)
            return false;
        if (place->step == 0) {
            place->call--;
            place->step = SG_ACCOUNT_STEPS;
        }
        place->step--;
    } while (at(ranks, *place) == 0);
    return true;
}

/* Finds the other rank's publish mark, if its line was in transit when this rank was at `own`. */
static bool came_last(const sg_bench_marks *const *ranks, struct place seen, struct place own,
                      double line, struct place *out)
{
    *out = (struct place){!seen.rank, seen.call, SG_ACCOUNT_PUBLISH};
    return at(ranks, *out) < at(ranks, seen) &&
           (double)at(ranks, *out) + line > (double)at(ranks, own);
}

/* Finds when the other rank last left an instance before `slot`; false: not after `own`. */
static bool left_slot(const sg_bench_marks *const *ranks, struct place slot, struct place own,
                      struct place *out)
{
    *out = (struct place){!slot.rank, slot.call, SG_ACCOUNT_LEAVE};
    while (at(ranks, *out) == 0 || at(ranks, *out) >= at(ranks, slot)) {
        if (out->call == 0)
            return false;
        out->call--;
    }
    return at(ranks, *out) > at(ranks, own);
}

static bool are_whole(const sg_bench_marks *const *ranks, size_t calls)
{
    for (int rank = 0; rank < SG_BENCH_ACCOUNT_RANKS; rank++) {
        for (size_t call = 0; call < calls; call++) {
            if (ranks[rank][call][SG_ACCOUNT_ENTERED] == 0 ||
                ranks[rank][call][SG_ACCOUNT_PUBLISH] == 0 ||
                ranks[rank][call][SG_ACCOUNT_RETURN] == 0)
                return false;
        }
    }
    return true;
}

bool sg_bench_account_walk(const sg_bench_marks *const ranks[SG_BENCH_ACCOUNT_RANKS], size_t first,
                           size_t calls, double cost, double line, struct sg_bench_account *out)
{
    struct place place = {0, calls - 1, SG_ACCOUNT_RETURN}, before, other;

    *out = (struct sg_bench_account){.sum = 0};
    if (!are_whole(ranks, calls))
        return false;
    if (ranks[1][calls - 1][SG_ACCOUNT_RETURN] > at(ranks, place))
        place.rank = 1;
    for (before = place; place.call >= first && step_back(ranks, &before); place = before) {
        enum sg_bench_part part = part_of[place.step];
        double took = -cost;

        if (place.step == SG_ACCOUNT_SEE && came_last(ranks, place, before, line, &other)) {
            before = other;
            took = 0;
            out->parts[SG_BENCH_PART_TRANSFER] += line;
            out->parts[SG_BENCH_PART_SEE] -= line;
        } else if (place.step == SG_ACCOUNT_SLOT && left_slot(ranks, place, before, &other)) {
            before = other;
            took = 0;
        }
        took += (double)(at(ranks, place) - at(ranks, before));
        out->parts[part] += took;
        out->sum += took;
    }
    for (int part = 0; part < SG_BENCH_PARTS; part++)
        out->parts[part] /= (double)(calls - first);
    out->sum /= (double)(calls - first);
    return true;
}

bool sg_bench_account_add(const sg_bench_marks *marks, double cost, struct sg_bench_account *out)
{
    uint64_t before = (*marks)[SG_ACCOUNT_ENTERED];

    if (before == 0 || (*marks)[SG_ACCOUNT_RETURN] == 0)
        return false;
    for (int step = SG_ACCOUNT_ENTERED + 1; step < SG_ACCOUNT_STEPS; step++) {
        uint64_t mark = (*marks)[step];

        if (mark == 0)
            continue;
        out->parts[part_of[step]] += (double)(mark - before) - cost;
        out->sum += (double)(mark - before) - cost;
        before = mark;
    }
    return true;
}

static int by_sum(const void *a, const void *b)
{
    double left = ((const struct sg_bench_account *)a)->sum;
    double right = ((const struct sg_bench_account *)b)->sum;

    return (left > right) - (left < right);
}

struct sg_bench_account sg_bench_account_of_all(struct sg_bench_account *accounts, size_t count)
{
    struct sg_bench_account mean = {.sum = 0};
    size_t half = (count + 1) / 2;

    qsort(accounts, count, sizeof *accounts, by_sum);
    for (size_t i = 0; i < half; i++) {
        for (int part = 0; part < SG_BENCH_PARTS; part++)
            mean.parts[part] += accounts[i].parts[part] / (double)half;
        mean.sum += accounts[i].sum / (double)half;
    }
    return mean;
}
