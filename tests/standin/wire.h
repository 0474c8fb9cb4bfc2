/* The network of the stand-in adapters: a file that all processes map, with an inbox for each open
 * device. Whoever sends puts a packet into the receiver's inbox; the receiver's thread takes it.
 */
#ifndef SG_TESTS_STANDIN_WIRE_H
#define SG_TESTS_STANDIN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum packet_kind { PACKET_WRITE, PACKET_READ, PACKET_ADD, PACKET_ANSWER };

struct packet {
    uint32_t bytes; /* of the packet, a multiple of 8 */
    uint8_t kind;
    uint8_t notifies, solicited; /* of WRITE: it has immediate data */
    uint8_t status;              /* of ANSWER: enum ibv_wc_status */
    uint32_t to, from;           /* numbers of queue pairs */
    uint32_t request;            /* at the pair that sent the request */
    uint32_t key, length;
    uint64_t address, value;
    unsigned char data[];
};

/* An open device's port, for the others. */
struct wire_port {
    bool is_ethernet;
    uint8_t versions; /* of RoCE: bit 1, bit 2 */
    uint16_t partition;
    uint32_t network;
};

#define WIRE_INBOXES 64

/* Maps the file. Ends the process when it cannot. */
void wire_start(const char *path);
/* A new inbox; returns its number. */
uint32_t wire_open(void);
struct wire_port *wire_port(uint32_t inbox);
/* Room for `length` bytes of data; the content is the caller's until wire_send. */
void wire_send(uint32_t inbox, const struct packet *packet, const void *data);
/* The next packet, copied into the caller's malloc'ed memory; NULL: none within that time. */
struct packet *wire_receive(uint32_t inbox, int64_t wait_ns);
/* Wakes wire_receive. */
void wire_wake(uint32_t inbox);

#endif
