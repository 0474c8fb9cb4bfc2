/* The stand-in's network (wire.h): rings in a shared file, with futexes to wake the receivers. */
#include "wire.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES ((uint64_t)8 << 20)

/* Numbers of bytes ever put and taken. Who puts holds the lock; one thread takes. */
struct inbox {
    _Alignas(64) _Atomic uint32_t lock;
    _Atomic uint32_t rung;
    _Atomic uint64_t put, taken;
    struct wire_port port;
    unsigned char ring[RING_BYTES];
};

struct wire {
    _Atomic uint32_t count;
    struct inbox inboxes[WIRE_INBOXES];
};

static struct wire *wire;

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "stand-in: %s: %m\n", what);
    abort();
}

void wire_start(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    require(file >= 0 && ftruncate(file, sizeof *wire) == 0, path);
    wire = mmap(NULL, sizeof *wire, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    require(wire != MAP_FAILED, path);
    close(file);
}

uint32_t wire_open(void)
{
    uint32_t inbox = atomic_fetch_add(&wire->count, 1);

    require(inbox < WIRE_INBOXES, "too many devices are open");
    return inbox;
}

struct wire_port *wire_port(uint32_t inbox)
{
    return &wire->inboxes[inbox].port;
}

/* At that byte of the ring, around its end. */
static void copy_in(struct inbox *inbox, uint64_t at, const void *data, size_t bytes)
{
    size_t first = RING_BYTES - at % RING_BYTES;

    first = first < bytes ? first : bytes;
    memcpy(inbox->ring + at % RING_BYTES, data, first);
    memcpy(inbox->ring, (const unsigned char *)data + first, bytes - first);
}

static void copy_out(const struct inbox *inbox, uint64_t at, void *data, size_t bytes)
{
    size_t first = RING_BYTES - at % RING_BYTES;

    first = first < bytes ? first : bytes;
    memcpy(data, inbox->ring + at % RING_BYTES, first);
    memcpy((unsigned char *)data + first, inbox->ring, bytes - first);
}

void wire_wake(uint32_t number)
{
    struct inbox *inbox = &wire->inboxes[number];

    if (atomic_exchange(&inbox->rung, 1) == 0)
        syscall(SYS_futex, &inbox->rung, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void wire_send(uint32_t number, const struct packet *packet, const void *data)
{
    struct inbox *inbox = &wire->inboxes[number];
    struct packet head = *packet;

    require(number < WIRE_INBOXES, "no such device");
    head.bytes = (uint32_t)((sizeof head + (data != NULL ? head.length : 0) + 7) & ~(size_t)7);
    while (atomic_exchange_explicit(&inbox->lock, 1, memory_order_acquire) != 0)
        sched_yield();
    uint64_t at = atomic_load(&inbox->put);
    while (at + head.bytes - atomic_load(&inbox->taken) > RING_BYTES)
        sched_yield(); /* its receiver is slow */
    copy_in(inbox, at, &head, sizeof head);
    if (data != NULL)
        copy_in(inbox, at + sizeof head, data, head.length);
    atomic_store_explicit(&inbox->put, at + head.bytes, memory_order_release);
    atomic_store_explicit(&inbox->lock, 0, memory_order_release);
    wire_wake(number);
}

struct packet *wire_receive(uint32_t number, int64_t wait_ns)
{
    struct inbox *inbox = &wire->inboxes[number];
    uint64_t at = atomic_load_explicit(&inbox->taken, memory_order_relaxed);
    struct timespec wait = {wait_ns / 1000000000, wait_ns % 1000000000};
    struct packet head;

    if (at == atomic_load(&inbox->put)) {
        syscall(SYS_futex, &inbox->rung, FUTEX_WAIT, 0, &wait, NULL, 0);
        atomic_exchange(&inbox->rung, 0);
        if (at == atomic_load(&inbox->put))
            return NULL;
    }
    copy_out(inbox, at, &head, sizeof head);
    struct packet *packet = malloc(head.bytes);
    require(packet != NULL, "a packet");
    copy_out(inbox, at, packet, head.bytes);
    atomic_store_explicit(&inbox->taken, at + head.bytes, memory_order_release);
    return packet;
}
