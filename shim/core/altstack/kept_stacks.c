/* Keeps stacks for reuse, as many as threads used at a time, up to KEPT. They are taken without a
 * lock: a forked child may inherit a stack taken by a thread that it does not have. */
#include "core/altstack.h"
#include "core/cpu/cpu.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)1 << 20) /* only touched pages take memory */
#define MAIN_BYTES ((uintptr_t)8 << 20)
#define KEPT 16

#define TLS_MODEL __attribute__((tls_model("initial-exec")))

struct range {
    uintptr_t low, high;
};

static __thread struct range own TLS_MODEL; /* the thread's; high 0: not looked up yet */
static __thread struct range alt TLS_MODEL; /* the library's stack, while in use */

/* ---- the thread's own stack ---- */

static bool is_in(const struct range *range, uintptr_t address)
{
    return address - range->low < range->high - range->low;
}

/* Range of the main thread's stack: half its limit, counted from this frame, because arguments and
 * environment take part of it. */
static struct range main_range(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), bytes = MAIN_BYTES;
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < bytes)
        bytes = (uintptr_t)limit.rlim_cur;
    return (struct range){here - bytes / 2, here + MAIN_BYTES};
}

/* A stack that cannot be determined counts as having no room. */
static struct range range_of_thread(void)
{
    struct range range = {0, 1};
    pthread_attr_t attributes;
    void *low;
    size_t bytes;

    if ((pid_t)syscall(SYS_gettid) == getpid())
        return main_range();
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return range;
    if (pthread_attr_getstack(&attributes, &low, &bytes) == 0)
        range = (struct range){(uintptr_t)low, (uintptr_t)low + bytes};
    pthread_attr_destroy(&attributes);
    return range;
}

/* Runs at process start, when the main thread is certainly on its own stack. */
__attribute__((constructor)) static void look_up(void)
{
    own = range_of_thread();
}

bool sg_altstack_has_room(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);

    if (__builtin_expect(own.high == 0, 0))
        look_up();
    return is_in(&own, here) ? here - own.low >= SG_ALTSTACK_ROOM_BYTES : is_in(&alt, here);
}

bool sg_altstack_holds(uintptr_t address)
{
    return is_in(&alt, address);
}

#ifdef SG_CPU_HAS_CALL_ON

/* ---- the library's stacks ---- */

void sg_altstack_call_on(void *top, void (*work)(void *argument), void *argument);
__asm__(".pushsection .text\n"
        ".hidden sg_altstack_call_on\n"
        ".global sg_altstack_call_on\n"
        ".type sg_altstack_call_on, %function\n"
        "sg_altstack_call_on:\n"
        ".cfi_startproc\n" SG_CPU_CALL_ON_CODE ".cfi_endproc\n"
        ".size sg_altstack_call_on, . - sg_altstack_call_on\n"
        ".popsection\n");

static _Atomic(char *) kept[KEPT];

/* Returns the lowest address, which begins a guard page; NULL: no memory. */
static char *take(void)
{
    char *stack;

    for (int i = 0; i < KEPT; i++) {
        /* Acquire: pairs with put_back; the previous thread has left the stack. */
        if (atomic_load_explicit(&kept[i], memory_order_relaxed) != NULL &&
            (stack = atomic_exchange_explicit(&kept[i], NULL, memory_order_acquire)) != NULL)
            return stack;
    }
    stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE);
    return stack;
}

static void put_back(char *stack)
{
    for (int i = 0; i < KEPT; i++) {
        char *none = NULL;

        /* Release: see take. */
        if (atomic_compare_exchange_strong_explicit(&kept[i], &none, stack, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    munmap(stack, STACK_BYTES);
}

/* AddressSanitizer must know which stack a thread runs on; present if the application has it. */
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t bytes)
    __attribute__((weak));
void __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *bytes)
    __attribute__((weak));

struct visit {
    void (*work)(void *argument);
    void *argument;
    const void *bottom; /* of the stack that was left */
    size_t bytes;
};

static void enter(void *argument)
{
    struct visit *visit = argument;

    if (__sanitizer_finish_switch_fiber != NULL)
        __sanitizer_finish_switch_fiber(NULL, &visit->bottom, &visit->bytes);
    visit->work(visit->argument);
    if (__sanitizer_start_switch_fiber != NULL)
        __sanitizer_start_switch_fiber(NULL, visit->bottom, visit->bytes);
}

static void run_on(char *stack, void (*work)(void *argument), void *argument)
{
    struct visit visit = {.work = work, .argument = argument};
    void *save = NULL;

    alt = (struct range){(uintptr_t)stack, (uintptr_t)stack + STACK_BYTES};
    if (__sanitizer_start_switch_fiber != NULL)
        __sanitizer_start_switch_fiber(&save, stack, STACK_BYTES);
    sg_altstack_call_on(stack + STACK_BYTES, enter, &visit);
    if (__sanitizer_finish_switch_fiber != NULL)
        __sanitizer_finish_switch_fiber(save, NULL, NULL);
    alt = (struct range){0, 0};
}

void sg_altstack_run(void (*work)(void *argument), void *argument)
{
    char *stack = sg_altstack_has_room() ? NULL : take();

    if (stack == NULL) {
        work(argument);
        return;
    }
    run_on(stack, work, argument);
    put_back(stack);
}

#else

void sg_altstack_run(void (*work)(void *argument), void *argument)
{
    work(argument);
}

#endif
