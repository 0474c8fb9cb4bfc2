/* Small programs whose outcomes are known, from the papers on C11 (Lahav et al., PLDI 2017; Batty
 * et al., POPL 2011) and by reasoning. This file is compiled as the sources under check are;
 * test_litmus.c compares the outcomes with the expected ones. */
#include "weak/litmus.h"

#include <stdatomic.h>
#include <string.h>

static _Atomic int x, y, z;
static int r[4];

#define LOAD(object, order) atomic_load_explicit(&(object), memory_order_##order)
#define STORE(object, value, order) atomic_store_explicit(&(object), value, memory_order_##order)
#define ADD(object, value, order) atomic_fetch_add_explicit(&(object), value, memory_order_##order)
#define FENCE(order) atomic_thread_fence(memory_order_##order)
#define CHANGE(object, from, to, order)                                                            \
    atomic_compare_exchange_strong_explicit(&(object), &(int){from}, to, memory_order_##order,     \
                                            memory_order_relaxed)

static void set_up(void)
{
    STORE(x, 0, relaxed);
    STORE(y, 0, relaxed);
    STORE(z, 0, relaxed);
    memset(r, 0, sizeof r);
}

void litmus_outcome(struct litmus_outcome *out)
{
    memcpy(out->r, r, sizeof r);
    out->x = LOAD(x, relaxed);
    out->y = LOAD(y, relaxed);
    out->z = LOAD(z, relaxed);
}

static bool is_y(void *context)
{
    return LOAD(y, acquire) == 1;
}

static void run_0(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        r[0] = LOAD(y, relaxed);
        break;
    default:
        STORE(y, 1, relaxed);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_1(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, release);
        r[0] = LOAD(y, acquire);
        break;
    default:
        STORE(y, 1, release);
        r[1] = LOAD(x, acquire);
    }
}

static void run_2(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, seq_cst);
        r[0] = LOAD(y, seq_cst);
        break;
    default:
        STORE(y, 1, seq_cst);
        r[1] = LOAD(x, seq_cst);
    }
}

static void run_3(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, seq_cst);
        r[0] = LOAD(y, acquire);
        break;
    default:
        STORE(y, 1, seq_cst);
        r[1] = LOAD(x, acquire);
    }
}

static void run_4(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        FENCE(seq_cst);
        r[0] = LOAD(y, relaxed);
        break;
    default:
        STORE(y, 1, relaxed);
        FENCE(seq_cst);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_5(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        FENCE(acq_rel);
        r[0] = LOAD(y, relaxed);
        break;
    default:
        STORE(y, 1, relaxed);
        FENCE(acq_rel);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_6(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, seq_cst);
        r[0] = LOAD(y, seq_cst);
        break;
    default:
        STORE(y, 1, relaxed);
        FENCE(seq_cst);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_7(int thread)
{
    switch (thread) {
    case 0:
        r[2] = ADD(x, 1, acq_rel);
        r[0] = LOAD(y, relaxed);
        break;
    default:
        r[3] = ADD(y, 1, acq_rel);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_8(int thread)
{
    switch (thread) {
    case 0:
        r[2] = ADD(x, 1, seq_cst);
        r[0] = LOAD(y, seq_cst);
        break;
    default:
        r[3] = ADD(y, 1, seq_cst);
        r[1] = LOAD(x, seq_cst);
    }
}

static void run_9(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        ADD(z, 1, acq_rel);
        r[0] = LOAD(y, relaxed);
        break;
    default:
        STORE(y, 1, relaxed);
        ADD(z, 1, acq_rel);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_10(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        STORE(y, 1, relaxed);
        break;
    default:
        r[0] = LOAD(y, relaxed);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_11(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        STORE(y, 1, release);
        break;
    default:
        r[0] = LOAD(y, acquire);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_12(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        STORE(y, 1, release);
        break;
    default:
        r[0] = LOAD(y, relaxed);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_13(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        STORE(y, 1, relaxed);
        break;
    default:
        r[0] = LOAD(y, acquire);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_14(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        STORE(y, 1, seq_cst);
        break;
    default:
        r[0] = LOAD(y, seq_cst);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_15(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        FENCE(release);
        STORE(y, 1, relaxed);
        break;
    default:
        r[0] = LOAD(y, relaxed);
        FENCE(acquire);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_16(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        FENCE(release);
        STORE(y, 1, relaxed);
        break;
    default:
        r[0] = LOAD(y, relaxed);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_17(int thread)
{
    switch (thread) {
    case 0:
        r[0] = LOAD(x, relaxed);
        STORE(y, 1, relaxed);
        break;
    default:
        r[1] = LOAD(y, relaxed);
        STORE(x, 1, relaxed);
    }
}

static void run_18(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        break;
    default:
        r[0] = LOAD(x, relaxed);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_19(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        break;
    case 1:
        STORE(x, 2, relaxed);
        break;
    default:
        r[0] = LOAD(x, relaxed);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_20(int thread)
{
    switch (thread) {
    default:
        STORE(x, 1, relaxed);
        STORE(x, 2, relaxed);
    }
}

static void run_21(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        r[0] = LOAD(x, relaxed);
        break;
    default:
        STORE(x, 2, relaxed);
    }
}

static void run_22(int thread)
{
    switch (thread) {
    case 0:
        r[0] = LOAD(x, relaxed);
        STORE(x, 1, relaxed);
        break;
    default:
        STORE(x, 2, relaxed);
    }
}

static void run_23(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        STORE(y, 2, relaxed);
        break;
    default:
        STORE(y, 1, relaxed);
        STORE(x, 2, relaxed);
    }
}

static void run_24(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, release);
        STORE(y, 2, release);
        break;
    default:
        STORE(y, 1, release);
        STORE(x, 2, release);
    }
}

static void run_25(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, seq_cst);
        STORE(y, 2, seq_cst);
        break;
    default:
        STORE(y, 1, seq_cst);
        STORE(x, 2, seq_cst);
    }
}

static void run_26(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        FENCE(seq_cst);
        STORE(y, 2, relaxed);
        break;
    default:
        STORE(y, 1, relaxed);
        FENCE(seq_cst);
        STORE(x, 2, relaxed);
    }
}

static void run_27(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, release);
        break;
    case 1:
        STORE(y, 1, release);
        break;
    case 2:
        r[0] = LOAD(x, acquire);
        r[1] = LOAD(y, acquire);
        break;
    default:
        r[2] = LOAD(y, acquire);
        r[3] = LOAD(x, acquire);
    }
}

static void run_28(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, seq_cst);
        break;
    case 1:
        STORE(y, 1, seq_cst);
        break;
    case 2:
        r[0] = LOAD(x, seq_cst);
        r[1] = LOAD(y, seq_cst);
        break;
    default:
        r[2] = LOAD(y, seq_cst);
        r[3] = LOAD(x, seq_cst);
    }
}

static void run_29(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, seq_cst);
        break;
    case 1:
        STORE(y, 1, seq_cst);
        break;
    case 2:
        r[0] = LOAD(x, acquire);
        r[1] = LOAD(y, seq_cst);
        break;
    default:
        r[2] = LOAD(y, acquire);
        r[3] = LOAD(x, seq_cst);
    }
}

static void run_30(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        break;
    case 1:
        STORE(y, 1, relaxed);
        break;
    case 2:
        r[0] = LOAD(x, relaxed);
        FENCE(seq_cst);
        r[1] = LOAD(y, relaxed);
        break;
    default:
        r[2] = LOAD(y, relaxed);
        FENCE(seq_cst);
        r[3] = LOAD(x, relaxed);
    }
}

static void run_31(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, release);
        break;
    case 1:
        r[0] = LOAD(x, acquire);
        STORE(y, 1, release);
        break;
    default:
        r[1] = LOAD(y, acquire);
        r[2] = LOAD(x, relaxed);
    }
}

static void run_32(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        break;
    case 1:
        r[0] = LOAD(x, relaxed);
        STORE(y, 1, relaxed);
        break;
    default:
        r[1] = LOAD(y, relaxed);
        r[2] = LOAD(x, relaxed);
    }
}

static void run_33(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        STORE(y, 1, release);
        break;
    case 1:
        r[0] = LOAD(y, acquire);
        STORE(z, 1, release);
        break;
    default:
        r[1] = LOAD(z, acquire);
        r[2] = LOAD(x, relaxed);
    }
}

static void run_34(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        STORE(y, 1, release);
        break;
    case 1:
        r[0] = ADD(y, 2, relaxed);
        break;
    default:
        r[1] = LOAD(y, acquire);
        r[2] = LOAD(x, relaxed);
    }
}

static void run_35(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        STORE(y, 1, release);
        STORE(y, 2, relaxed);
        break;
    default:
        r[0] = LOAD(y, acquire);
        r[1] = LOAD(x, relaxed);
    }
}

static void run_36(int thread)
{
    switch (thread) {
    case 0:
        r[0] = ADD(x, 1, relaxed);
        break;
    default:
        r[1] = ADD(x, 1, relaxed);
    }
}

static void run_37(int thread)
{
    switch (thread) {
    case 0:
        r[0] = ADD(x, 1, relaxed);
        break;
    case 1:
        r[1] = ADD(x, 1, relaxed);
        break;
    default:
        r[2] = ADD(x, 1, relaxed);
    }
}

static void run_38(int thread)
{
    switch (thread) {
    case 0:
        r[0] = ADD(x, 1, relaxed);
        break;
    default:
        STORE(x, 5, relaxed);
    }
}

static void run_39(int thread)
{
    switch (thread) {
    case 0:
        r[0] = CHANGE(x, 0, 1, relaxed);
        break;
    default:
        r[1] = CHANGE(x, 0, 2, relaxed);
    }
}

static void run_40(int thread)
{
    switch (thread) {
    case 0:
        r[0] = CHANGE(x, 0, 1, acquire);
        if (r[0] == 1) {
            STORE(y, 1, relaxed);
            STORE(x, 0, release);
        }
        break;
    default:
        r[1] = CHANGE(x, 0, 1, acquire);
        r[2] = r[1] == 1 ? LOAD(y, relaxed) : 7;
    }
}

static void run_41(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        break;
    case 1:
        r[0] = LOAD(x, relaxed);
        FENCE(seq_cst);
        r[1] = LOAD(y, relaxed);
        break;
    default:
        STORE(y, 1, relaxed);
        FENCE(seq_cst);
        r[2] = LOAD(x, relaxed);
    }
}

static void run_42(int thread)
{
    switch (thread) {
    case 0:
        STORE(z, 1, relaxed);
        FENCE(seq_cst);
        STORE(x, 1, relaxed);
        break;
    case 1:
        r[0] = LOAD(x, relaxed);
        STORE(y, 1, relaxed);
        break;
    default:
        r[1] = LOAD(y, relaxed);
        FENCE(seq_cst);
        r[2] = LOAD(z, relaxed);
    }
}

static void run_43(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, seq_cst);
        STORE(y, 1, release);
        break;
    case 1:
        r[0] = ADD(y, 1, seq_cst);
        r[1] = LOAD(y, relaxed);
        break;
    default:
        STORE(y, 3, seq_cst);
        r[2] = LOAD(x, seq_cst);
    }
}

static void run_44(int thread)
{
    switch (thread) {
    case 0:
        STORE(x, 1, relaxed);
        STORE(y, 1, release);
        break;
    default:
        weak_await(is_y, NULL);
        r[0] = LOAD(x, relaxed);
    }
}

#define PROGRAM(name, threads, run, print, expected)                                               \
    {                                                                                              \
        {name, threads, set_up, run, litmus_finish, 0, 0}, print, expected                         \
    }

const struct litmus litmus_programs[] = {
    PROGRAM("store buffering, relaxed", 2, run_0, "r0 r1", "00 01 10 11"),
    PROGRAM("store buffering, release and acquire", 2, run_1, "r0 r1", "00 01 10 11"),
    PROGRAM("store buffering, sequentially consistent", 2, run_2, "r0 r1", "01 10 11"),
    PROGRAM("store buffering, sequentially consistent stores alone", 2, run_3, "r0 r1",
            "00 01 10 11"),
    PROGRAM("store buffering, fences", 2, run_4, "r0 r1", "01 10 11"),
    PROGRAM("store buffering, weaker fences", 2, run_5, "r0 r1", "00 01 10 11"),
    PROGRAM("store buffering, a fence and accesses", 2, run_6, "r0 r1", "01 10 11"),
    PROGRAM("store buffering, updates of other objects", 2, run_7, "r0 r1", "00 01 10 11"),
    PROGRAM("store buffering, updates", 2, run_8, "r0 r1", "01 10 11"),
    PROGRAM("store buffering, updates of one object", 2, run_9, "r0 r1", "01 10 11"),
    PROGRAM("message passing, relaxed", 2, run_10, "r0 r1", "00 01 10 11"),
    PROGRAM("message passing, release and acquire", 2, run_11, "r0 r1", "00 01 11"),
    PROGRAM("message passing, release alone", 2, run_12, "r0 r1", "00 01 10 11"),
    PROGRAM("message passing, acquire alone", 2, run_13, "r0 r1", "00 01 10 11"),
    PROGRAM("message passing, sequentially consistent", 2, run_14, "r0 r1", "00 01 11"),
    PROGRAM("message passing, fences", 2, run_15, "r0 r1", "00 01 11"),
    PROGRAM("message passing, one fence", 2, run_16, "r0 r1", "00 01 10 11"),
    PROGRAM("load buffering, which this model has not", 2, run_17, "r0 r1", "00 01 10"),
    PROGRAM("loads of one object", 2, run_18, "r0 r1", "00 01 11"),
    PROGRAM("loads of one object that two store to", 3, run_19, "r0 r1 x",
            "001 002 011 012 021 022 111 112 122 211 221 222"),
    PROGRAM("stores to one object", 1, run_20, "x", "2"),
    PROGRAM("a store and a load of one object", 2, run_21, "r0 x", "11 12 22"),
    PROGRAM("a load and a store of one object", 2, run_22, "r0 x", "01 02 21"),
    PROGRAM("two and two writes, relaxed", 2, run_23, "x y", "11 12 21 22"),
    PROGRAM("two and two writes, release", 2, run_24, "x y", "11 12 21 22"),
    PROGRAM("two and two writes, sequentially consistent", 2, run_25, "x y", "12 21 22"),
    PROGRAM("two and two writes, fences", 2, run_26, "x y", "12 21 22"),
    PROGRAM("independent reads of independent writes, release and acquire", 4, run_27,
            "r0 r1 r2 r3",
            "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111"),
    PROGRAM("independent reads of independent writes, sequentially consistent", 4, run_28,
            "r0 r1 r2 r3",
            "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111"),
    PROGRAM("independent reads of independent writes, the second loads sequentially consistent", 4,
            run_29, "r0 r1 r2 r3",
            "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1010 1011 1100 1101 1110 1111"),
    PROGRAM("independent reads of independent writes, fences", 4, run_30, "r0 r1 r2 r3",
            "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111"),
    PROGRAM("write to read causality, release and acquire", 3, run_31, "r0 r1 r2",
            "000 001 010 011 100 101 111"),
    PROGRAM("write to read causality, relaxed", 3, run_32, "r0 r1 r2",
            "000 001 010 011 100 101 110 111"),
    PROGRAM("a chain of releases", 3, run_33, "r0 r1 r2", "000 001 010 011 100 101 111"),
    PROGRAM("a release sequence of an update", 3, run_34, "r0 r1 r2",
            "000 001 011 020 021 100 101 111 131"),
    PROGRAM("no release sequence of a later store", 2, run_35, "r0 r1", "00 01 11 20 21"),
    PROGRAM("two updates", 2, run_36, "r0 r1 x", "012 102"),
    PROGRAM("three updates", 3, run_37, "r0 r1 r2", "012 021 102 120 201 210"),
    PROGRAM("an update and a store", 2, run_38, "r0 x", "05 56"),
    PROGRAM("two exchanges with what is expected", 2, run_39, "r0 r1 x", "012 101"),
    PROGRAM("a lock by exchange with what is expected", 2, run_40, "r0 r1 r2", "010 107 111"),
    PROGRAM("read to write causality, fences", 3, run_41, "r0 r1 r2",
            "000 001 010 011 101 110 111"),
    PROGRAM("fences are not in the order of a chain without releases", 3, run_42, "r0 r1 r2",
            "000 001 010 011 100 101 110 111"),
    PROGRAM("sequentially consistent operations leave happens-before alone (Z6.U)", 3, run_43,
            "r0 r1 r2", "+130"),
    PROGRAM("a waiting load sees the store", 2, run_44, "r0", "1"),
};
const int litmus_count = sizeof litmus_programs / sizeof *litmus_programs;
