/* Included before the sources under check: replaces their calls of the system by the checker's. */
#ifndef SG_TESTS_WEAK_STAND_IN_H
#define SG_TESTS_WEAK_STAND_IN_H

#include "core/cpu/cpu.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void *weak_copy(void *to, const void *from, size_t bytes);
void *weak_fill(void *to, int value, size_t bytes);
void weak_pause(void);
int weak_yield(void);
long weak_syscall(long number, ...);
int weak_mutex_lock(pthread_mutex_t *mutex);
int weak_mutex_trylock(pthread_mutex_t *mutex);
int weak_mutex_unlock(pthread_mutex_t *mutex);
int weak_thread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                       void *context);
int weak_thread_join(pthread_t thread, void **result);
int weak_clock(clockid_t id, struct timespec *now);
int weak_sigaction(int number, const struct sigaction *action, struct sigaction *before);

#define memcpy weak_copy
#define memset weak_fill
#define sched_yield weak_yield
#define syscall weak_syscall
#define pthread_mutex_lock weak_mutex_lock
#define pthread_mutex_trylock weak_mutex_trylock
#define pthread_mutex_unlock weak_mutex_unlock
#define pthread_create weak_thread_create
#define pthread_join weak_thread_join
#define pthread_setname_np(thread, name) ((void)(thread), (void)(name))
#define sigaction(number, action, before) weak_sigaction(number, action, before)
#define clock_gettime weak_clock
#define sg_cpu_pause weak_pause
#define __thread __attribute__((section("weak_local")))

#endif
