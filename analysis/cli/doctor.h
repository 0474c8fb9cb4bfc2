/* Checks of `stagger doctor`: each looks for one problem on this machine and prints one line with
 * the finding and a remedy.
 */
#ifndef SG_CLI_DOCTOR_H
#define SG_CLI_DOCTOR_H

#include "core/config.h"

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
void sg_doctor_check_reading(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_shared(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_devices(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_memlock(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_counters(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_directory(const struct sg_doctor *doctor, struct sg_finding *out);

#endif
