/* The socket and the core that a thread runs on, where its affinity mask leaves only one: by the
 * numbers of the kernel (/sys/devices/system/cpu/cpuN/topology). Not signal-safe.
 */
#ifndef SG_CORE_SOCKET_H
#define SG_CORE_SOCKET_H

#include <sched.h>
#include <stdint.h>

/* 1 + the kernel's number; 0: there are several, or the kernel does not tell. A core's number is
 * that within its socket; where it is known, its socket is, too. */
struct sg_socket {
    uint32_t socket, core;
};

/* Of the processors in a mask. sys: "/sys" or, in tests, a directory like it. */
struct sg_socket sg_socket_of(const char *sys, const cpu_set_t *mask);

/* Of the calling thread. */
struct sg_socket sg_socket_own(void);

#endif
