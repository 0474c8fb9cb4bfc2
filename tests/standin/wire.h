/* The network of the stand-in adapters: a file that all processes map, with an inbox for each open
 * device. A sender puts a packet into the receiver's inbox; the receiver's thread takes it out.
 */
#ifndef SG_TESTS_STANDIN_WIRE_H
#define SG_TESTS_STANDIN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum packet_kind { PACKET_WRITE, PACKET_READ, PACKET_ADD, PACKET_ANSWER };

struct packet {
    uint32_t bytes; /* size of the packet, a multiple of 8 */
    uint8_t kind;
    uint8_t notifies, solicited; /* WRITE only: the packet has immediate data */
    uint8_t status;              /* ANSWER only: enum ibv_wc_status */
    uint32_t to, from;           /* queue pair numbers */
    uint32_t request;            /* its number at the queue pair that sent it */
    uint32_t key, length;
    uint64_t address, value;
    unsigned char data[];
};

/* Port of an open device, as seen by other processes. */
struct wire_port {
    bool is_ethernet;
    uint8_t versions; /* RoCE versions: bit 1, bit 2 */
    uint16_t partition;
    uint32_t network;
};

#define WIRE_INBOXES 64

/* Maps the file; ends the process on failure. */
void wire_start(const char *path);
/* Creates an inbox and returns its number. */
uint32_t wire_open(void);
struct wire_port *wire_port(uint32_t inbox);
/* Sends a packet, with packet->length bytes of data unless data is NULL; copies both. Ends the
 * process if the inbox is full. */
void wire_send(uint32_t inbox, const struct packet *packet, const void *data);
/* Returns the next packet in malloc'ed memory that the caller frees; NULL if none comes within
 * wait_ns. */
struct packet *wire_receive(uint32_t inbox, int64_t wait_ns);
/* Makes wire_receive return. */
void wire_wake(uint32_t inbox);

#endif
