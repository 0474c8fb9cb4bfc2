/* The calls that the compiler emits under -fsanitize=thread. Outside the threads of a scenario
 * they act on memory at once. */
#include "weak/execution.h"

#include <string.h>

#define SITE __builtin_extract_return_addr(__builtin_return_address(0))

/* The compiler's own; nobody else declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void)
{
}

/* ---- plain ---- */

static void plain(const volatile void *address, size_t bytes, bool is_write, const void *site)
{
    if (weak_current >= 0 && !weak_is_own(address))
        weak_plain((uintptr_t)address, bytes, is_write, site);
}

#define PLAIN(bytes)                                                                               \
    void __tsan_read##bytes(void *address)                                                         \
    {                                                                                              \
        plain(address, bytes, false, SITE);                                                        \
    }                                                                                              \
    void __tsan_write##bytes(void *address)                                                        \
    {                                                                                              \
        plain(address, bytes, true, SITE);                                                         \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(void *address)                                               \
    {                                                                                              \
        plain(address, bytes, false, SITE);                                                        \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void *address)                                              \
    {                                                                                              \
        plain(address, bytes, true, SITE);                                                         \
    }

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *address, unsigned long bytes)
{
    plain(address, bytes, false, SITE);
}

void __tsan_write_range(void *address, unsigned long bytes)
{
    plain(address, bytes, true, SITE);
}

void *weak_copy(void *to, const void *from, size_t bytes)
{
    plain(from, bytes, false, SITE);
    plain(to, bytes, true, SITE);
    return memcpy(to, from, bytes);
}

void *weak_move(void *to, const void *from, size_t bytes);
void *weak_move(void *to, const void *from, size_t bytes)
{
    plain(from, bytes, false, SITE);
    plain(to, bytes, true, SITE);
    return memmove(to, from, bytes);
}

void *weak_fill(void *to, int value, size_t bytes)
{
    plain(to, bytes, true, SITE);
    return memset(to, value, bytes);
}

/* Later compilers call these for copies that they make of their own accord. */
void *__tsan_memcpy(void *to, const void *from, size_t bytes) __attribute__((alias("weak_copy")));
void *__tsan_memmove(void *to, const void *from, size_t bytes) __attribute__((alias("weak_move")));
void *__tsan_memset(void *to, int value, size_t bytes) __attribute__((alias("weak_fill")));

/* ---- atomic ---- */

static uint64_t exchange(uint64_t old, uint64_t operand)
{
    (void)old;
    return operand;
}

static uint64_t fetch_add(uint64_t old, uint64_t operand)
{
    return old + operand;
}

static uint64_t fetch_sub(uint64_t old, uint64_t operand)
{
    return old - operand;
}

static uint64_t fetch_and(uint64_t old, uint64_t operand)
{
    return old & operand;
}

static uint64_t fetch_or(uint64_t old, uint64_t operand)
{
    return old | operand;
}

static uint64_t fetch_xor(uint64_t old, uint64_t operand)
{
    return old ^ operand;
}

static uint64_t update(volatile void *address, uint32_t bytes, weak_change change, uint64_t operand,
                       int order, const void *site)
{
    uint64_t old = 0, value;

    if (weak_current >= 0)
        return weak_update((uintptr_t)address, bytes, change, operand, (memory_order)order, site);
    memcpy(&old, (const void *)address, bytes);
    value = change(old, operand);
    memcpy((void *)address, &value, bytes);
    return old;
}

static bool compare(volatile void *address, uint32_t bytes, void *expected, uint64_t desired,
                    int order, int failure_order, const void *site)
{
    uint64_t wanted = 0, old = 0;
    bool is_same;

    memcpy(&wanted, expected, bytes);
    if (weak_current >= 0) {
        old = wanted;
        is_same = weak_compare((uintptr_t)address, bytes, &old, desired, (memory_order)order,
                               (memory_order)failure_order, site);
    } else {
        memcpy(&old, (const void *)address, bytes);
        is_same = old == wanted;
        if (is_same)
            memcpy((void *)address, &desired, bytes);
    }
    memcpy(expected, &old, bytes);
    return is_same;
}

#define UPDATE(bits, name, change)                                                                 \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *address,                  \
                                                uint##bits##_t operand, int order)                 \
    {                                                                                              \
        return (uint##bits##_t)update(address, bits / 8, change, operand, order, SITE);            \
    }

#define ATOMIC(bits)                                                                               \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *address, int order)   \
    {                                                                                              \
        return weak_current < 0 ? *address                                                         \
                                : (uint##bits##_t)weak_load((uintptr_t)address, bits / 8,          \
                                                            (memory_order)order, SITE);            \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *address, uint##bits##_t value,       \
                                     int order)                                                    \
    {                                                                                              \
        if (weak_current < 0)                                                                      \
            *address = value;                                                                      \
        else                                                                                       \
            weak_store((uintptr_t)address, bits / 8, value, (memory_order)order, SITE);            \
    }                                                                                              \
    UPDATE(bits, exchange, exchange)                                                               \
    UPDATE(bits, fetch_add, fetch_add)                                                             \
    UPDATE(bits, fetch_sub, fetch_sub)                                                             \
    UPDATE(bits, fetch_and, fetch_and)                                                             \
    UPDATE(bits, fetch_or, fetch_or)                                                               \
    UPDATE(bits, fetch_xor, fetch_xor)                                                             \
    int __tsan_atomic##bits##_compare_exchange_strong(                                             \
        volatile uint##bits##_t *address, uint##bits##_t *expected, uint##bits##_t desired,        \
        int order, int failure_order)                                                              \
    {                                                                                              \
        return compare(address, bits / 8, expected, desired, order, failure_order, SITE);          \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(                                               \
        volatile uint##bits##_t *address, uint##bits##_t *expected, uint##bits##_t desired,        \
        int order, int failure_order)                                                              \
    {                                                                                              \
        return compare(address, bits / 8, expected, desired, order, failure_order, SITE);          \
    }                                                                                              \
    /* clang's name for either; it gives what was found. */                                        \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                     \
        volatile uint##bits##_t *address, uint##bits##_t expected, uint##bits##_t desired,         \
        int order, int failure_order)                                                              \
    {                                                                                              \
        compare(address, bits / 8, &expected, desired, order, failure_order, SITE);                \
        return expected;                                                                           \
    }

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order)
{
    if (weak_current >= 0)
        weak_fence((memory_order)order, SITE);
}

void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
