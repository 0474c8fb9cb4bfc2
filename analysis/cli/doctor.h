/* What can be wrong on this machine, for `stagger doctor`: one check for each thing, one line for
 * each check, and what to do about it.
 */
#ifndef SG_CLI_DOCTOR_H
#define SG_CLI_DOCTOR_H

#include "core/config.h"

enum sg_health {
    SG_HEALTH_GOOD,
    SG_HEALTH_NOTE, /* it works, but for what the line says */
    SG_HEALTH_BAD   /* programs cannot be observed, or do not run */
};

/* Where and with what is looked. */
struct sg_doctor {
    const char *processes; /* proc(5) */
    const char *systems;   /* sysfs(5) */
    const char *shared;    /* POSIX shared memory */
    const struct sg_config *config;
    const char *library;  /* of stagger; NULL: not found */
    const char *launcher; /* of MPI programs; NULL: not found */
    unsigned limit_s;     /* the most that the launcher may take */
};

struct sg_finding {
    enum sg_health health;
    char says[600];
    char remedy[300]; /* "": there is nothing to do */
};

/* remedy: NULL for none. */
void sg_finding_set(struct sg_finding *finding, enum sg_health health, const char *remedy,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

typedef void (*sg_doctor_check)(const struct sg_doctor *doctor, struct sg_finding *out);

/* In doctor_machine.c: what the machine gives. */
void sg_doctor_check_processors(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_reading(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_shared(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_devices(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_memlock(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_counters(const struct sg_doctor *doctor, struct sg_finding *out);
void sg_doctor_check_directory(const struct sg_doctor *doctor, struct sg_finding *out);

#endif
