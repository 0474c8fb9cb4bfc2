/* Describes this machine for `stagger info`, one line for each resource, found or not. Shared with
 * `stagger doctor`, which checks some of them.
 */
#ifndef SG_CLI_MACHINE_H
#define SG_CLI_MACHINE_H

#include "core/config.h"

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

void sg_machine_print_transports(const struct sg_config *config, FILE *out);
void sg_machine_print_libraries(FILE *out);
/* The algorithms for ranks on one node, by number of ranks, if they may use these processors. sys:
 * "/sys", in tests another directory. */
void sg_machine_print_forms(const char *sys, const cpu_set_t *processors, FILE *out);
/* The sources of what a rank does between calls, read as a rank reads them. */
void sg_machine_print_sources(FILE *out);
void sg_machine_print_mpi(const struct sg_config *config, FILE *out);
/* The errno with which one process is refused access to another's memory; 0: it is allowed. */
int sg_machine_read_refused(void);
/* scandir filter for /sys/class/infiniband. */
int sg_machine_is_device(const struct dirent *entry);
/* Prints the RDMA device that a program would use with this configuration, or why it would use
 * none. Returns false if none.
 */
bool sg_machine_put_rdma(const struct sg_config *config, FILE *out);
/* The path of MPICH's launcher in PATH; malloc'ed, NULL: there is none. */
char *sg_machine_launcher(void);

/* Checks of `stagger doctor`: each looks for one problem on this machine and prints one line with
 * the finding and a remedy.
 */

enum sg_health {
    SG_HEALTH_GOOD,
    SG_HEALTH_NOTE, /* works, with the limitation in `says` */
    SG_HEALTH_BAD   /* programs cannot be observed, or do not run */
};

/* Inputs of the checks. */
struct sg_doctor {
    const char *processes; /* proc(5) */
    const char *systems;   /* sysfs(5) */
    const char *shared;    /* POSIX shared memory */
    const struct sg_config *config;
    const char *library;  /* path of libstagger.so; NULL: not found */
    const char *launcher; /* MPI launcher; NULL: not found */
    unsigned limit_s;     /* timeout of the launcher */
};

struct sg_finding {
    enum sg_health health;
    char says[600];
    char remedy[300]; /* "": no action needed */
};

/* remedy: NULL for none. */
void sg_finding_set(struct sg_finding *finding, enum sg_health health, const char *remedy,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

typedef void (*sg_doctor_check)(const struct sg_doctor *doctor, struct sg_finding *out);

/* In doctor_machine.c: checks of the machine's resources. */
void sg_doctor_check_processors(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_threads(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_reading(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_shared(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_devices(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_memlock(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_counters(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_directory(const struct sg_doctor *doctor, struct sg_finding *out);

#endif
