#include "watch/slots.h"

#include "trace/record.h"

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

static sigjmp_buf way_out;
static volatile sig_atomic_t is_copying;

static void leave(int signal)
{
    if (is_copying)
        siglongjmp(way_out, 1);
    /* Comes again, and ends the program. */
    (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}

void sg_slots_guard(void)
{
    /* SA_NODEFER: siglongjmp need not restore a mask, so that sigsetjmp costs no system call. */
    const struct sigaction action = {.sa_handler = leave, .sa_flags = SA_NODEFER};

    (void)sigaction(SIGBUS, &action, NULL);
}

/* Where a record's end is, which is 0 while it is open; 0: it has none. */
static size_t place_of_end(uint8_t kind)
{
    switch (kind) {
    case SG_RECORD_CALL:
        return offsetof(struct sg_record_call, end_ns);
    case SG_RECORD_NONBLOCKING:
        return offsetof(struct sg_record_nonblocking, end_ns);
    case SG_RECORD_EVENT:
        return offsetof(struct sg_record_event, end_ns);
    default:
        return 0;
    }
}

static void copy_words(unsigned char *to, const unsigned char *from, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t word =
            atomic_load_explicit((const _Atomic uint64_t *)(from + at), memory_order_relaxed);

        memcpy(to + at, &word, sizeof word);
    }
}

static void copy_slot(unsigned char *to, const unsigned char *from)
{
    /* Acquire, both: pair with the writer's releases, so that the words are as new as these. */
    uint8_t kind = atomic_load_explicit((const _Atomic uint8_t *)from, memory_order_acquire);
    size_t place = place_of_end(kind);
    uint64_t end_ns = place == 0 ? 0
                                 : atomic_load_explicit((const _Atomic uint64_t *)(from + place),
                                                        memory_order_acquire);

    copy_words(to, from, SG_SLOT_BYTES);
    to[0] = kind;
    if (place > 0)
        memcpy(to + place, &end_ns, sizeof end_ns);
}

bool sg_slots_copy(void *to, const void *from, uint64_t count)
{
    if (sigsetjmp(way_out, 0) != 0) {
        is_copying = 0;
        return false;
    }
    is_copying = 1;
    atomic_signal_fence(memory_order_seq_cst);
    for (uint64_t slot = 0; slot < count; slot++)
        copy_slot((unsigned char *)to + slot * SG_SLOT_BYTES,
                  (const unsigned char *)from + slot * SG_SLOT_BYTES);
    atomic_signal_fence(memory_order_seq_cst);
    is_copying = 0;
    return true;
}

bool sg_slots_copy_words(void *to, const void *from, size_t bytes)
{
    if (sigsetjmp(way_out, 0) != 0) {
        is_copying = 0;
        return false;
    }
    is_copying = 1;
    atomic_signal_fence(memory_order_seq_cst);
    copy_words(to, from, bytes);
    atomic_signal_fence(memory_order_seq_cst);
    is_copying = 0;
    return true;
}
