/* The processes that a launcher of MPI started for one command: process 0 leads, the others serve
 * it. They exchange blocks of bytes through MPICH's library, which is loaded only where a launcher
 * started more than one process: stagger is not linked with MPI.
 *
 * Process 0 prints; the others never do. Blocks of a process arrive in their order; a process is at
 * most two blocks ahead. Errors of MPI end all processes, as MPI does by default. Not thread-safe.
 */
#ifndef SG_PROCESSES_PROCESSES_H
#define SG_PROCESSES_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_PROCESSES_BLOCK_BYTES ((size_t)256 * 1024)

/* Joins the others. Returns this process's number: 0 also if it is the only one. If the launcher
 * started several and MPICH cannot be loaded, logs why in the first and ends the process. At its
 * exit process 0 releases the others. */
uint32_t sg_processes_join(void);
/* Returns their number; 1 without a launcher. */
uint32_t sg_processes_count(void);
uint32_t sg_processes_number(void);

/* Process 0 gives the others work, which a text describes; they receive it: malloc'ed; NULL: there
 * is none, end. Call once. */
void sg_processes_give(const char *work);
char *sg_processes_await(void);

/* In other processes than 0: sends a block. False: process 0 wants no more. */
bool sg_processes_send(const void *bytes, size_t size_bytes);
/* Ends the blocks, also after a false. */
void sg_processes_send_end(void);
/* In process 0: receives the next block of a process, valid until the next call for this process.
 * 0 bytes: it has ended. */
size_t sg_processes_receive(uint32_t process, const uint8_t **bytes);
/* Receives all blocks that are left, and drops them. */
void sg_processes_stop(uint32_t process);

/* Leaves MPI, which does not start again. Process 0 calls it by itself. */
void sg_processes_leave(void);

#endif
