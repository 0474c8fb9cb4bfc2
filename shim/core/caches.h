/* Which cores share a cache, as the kernel tells (/sys/devices/system/cpu). */
#ifndef SG_CORE_CACHES_H
#define SG_CORE_CACHES_H

/* Cores, not their threads, that share the last cache with the first processor: a machine's
 * clusters of cores are taken to be alike. 0: not told. sys: "/sys", in tests another directory.
 * Thread-safe; opens files. */
int sg_caches_cores(const char *sys);

#endif
