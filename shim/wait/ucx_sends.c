/* Overrides of UCX's functions through which MPICH sends (ucx_sends.h). They are apart from
 * hook_ucx.c, whose one override serves with any number of ranks.
 *
 * Declarations follow ucp.h of UCX 1, with opaque pointers: no header of UCX is needed. A function
 * that a caller is linked to exists, since the caller could not have been loaded without.
 */
#include "wait/ucx_sends.h"

#include "core/imports.h"
#include "mpi/real.h"
#include "wait/caller.h"
#include "wait/wakes.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The first members of ucp_ep_params_t. */
struct endpoint_parameters {
    uint64_t members;
    const void *address;
};
#define HAS_ADDRESS UINT64_C(1)

/* From here on, a returned pointer is an error (UCS_ERR_LAST). */
#define ERRORS ((uintptr_t)-100)

#define OVERRIDES(X)                                                                               \
    X(get_address, "ucp_worker_get_address")                                                       \
    X(create, "ucp_ep_create")                                                                     \
    X(disconnect, "ucp_disconnect_nb")                                                             \
    X(tag_send, "ucp_tag_send_nbx")                                                                \
    X(tag_send_sync, "ucp_tag_send_sync_nbx")                                                      \
    X(am_send, "ucp_am_send_nb")                                                                   \
    X(put_at_once, "ucp_put")                                                                      \
    X(put, "ucp_put_nb")                                                                           \
    X(put_implicitly, "ucp_put_nbi")                                                               \
    X(get, "ucp_get_nb")                                                                           \
    X(get_implicitly, "ucp_get_nbi")                                                               \
    X(flush, "ucp_ep_flush")                                                                       \
    X(flush_all, "ucp_worker_flush_nb")                                                            \
    X(receive, "ucp_tag_recv_nbx")                                                                 \
    X(receive_probed, "ucp_tag_msg_recv_nbx")                                                      \
    X(release, "ucp_request_release")                                                              \
    X(free_request, "ucp_request_free")

#define NUMBER(name, text) NUMBER_##name,
#define OVERRIDES_UCX(symbol) __asm__(symbol) __attribute__((visibility("default")))

enum { OVERRIDES(NUMBER) COUNT };

int sg_ucx_get_address(void *worker, void **address, size_t *size_bytes)
    OVERRIDES_UCX("ucp_worker_get_address");
int sg_ucx_create(void *worker, const struct endpoint_parameters *parameters, void **endpoint)
    OVERRIDES_UCX("ucp_ep_create");
void *sg_ucx_disconnect(void *endpoint) OVERRIDES_UCX("ucp_disconnect_nb");
void *sg_ucx_tag_send(void *endpoint, const void *buffer, size_t count, uint64_t tag,
                      const void *parameters) OVERRIDES_UCX("ucp_tag_send_nbx");
void *sg_ucx_tag_send_sync(void *endpoint, const void *buffer, size_t count, uint64_t tag,
                           const void *parameters) OVERRIDES_UCX("ucp_tag_send_sync_nbx");
void *sg_ucx_am_send(void *endpoint, uint16_t number, const void *buffer, size_t count,
                     uint64_t type, void *callback, unsigned flags) OVERRIDES_UCX("ucp_am_send_nb");
int sg_ucx_put_at_once(void *endpoint, const void *buffer, size_t size_bytes, uint64_t remote,
                       void *key) OVERRIDES_UCX("ucp_put");
void *sg_ucx_put(void *endpoint, const void *buffer, size_t size_bytes, uint64_t remote, void *key,
                 void *callback) OVERRIDES_UCX("ucp_put_nb");
int sg_ucx_put_implicitly(void *endpoint, const void *buffer, size_t size_bytes, uint64_t remote,
                          void *key) OVERRIDES_UCX("ucp_put_nbi");
void *sg_ucx_get(void *endpoint, void *buffer, size_t size_bytes, uint64_t remote, void *key,
                 void *callback) OVERRIDES_UCX("ucp_get_nb");
int sg_ucx_get_implicitly(void *endpoint, void *buffer, size_t size_bytes, uint64_t remote,
                          void *key) OVERRIDES_UCX("ucp_get_nbi");
int sg_ucx_flush(void *endpoint) OVERRIDES_UCX("ucp_ep_flush");
void *sg_ucx_flush_all(void *worker, unsigned flags, void *callback)
    OVERRIDES_UCX("ucp_worker_flush_nb");
void *sg_ucx_receive(void *worker, void *buffer, size_t count, uint64_t tag, uint64_t mask,
                     const void *parameters) OVERRIDES_UCX("ucp_tag_recv_nbx");
void *sg_ucx_receive_probed(void *worker, void *buffer, size_t count, void *message,
                            const void *parameters) OVERRIDES_UCX("ucp_tag_msg_recv_nbx");
void sg_ucx_release(void *request) OVERRIDES_UCX("ucp_request_release");
void sg_ucx_free_request(void *request) OVERRIDES_UCX("ucp_request_free");

#define CALLER(name, text) {.symbol = text, .own = (void *)sg_ucx_##name},
static struct sg_caller callers[COUNT] = {OVERRIDES(CALLER)};

/* The function for the caller at that address. */
static void *next_for_any(int number, void *address, bool *is_mpich)
{
    struct sg_caller *caller = &callers[number];

    *is_mpich = sg_caller_is_mpich(caller, (uintptr_t)address);
    return *is_mpich ? caller->mpich : sg_caller_function(caller, (uintptr_t)address);
}

/* The same. *notes: the call is to be noted. */
static void *next(int number, void *address, bool *notes)
{
    void *function = next_for_any(number, address, notes);

    *notes = *notes && sg_wakes_are_on;
    return function;
}

/* NULL: the operation that returned it has ended. */
static const void *unfinished(const void *returned)
{
    return (uintptr_t)returned >= ERRORS ? NULL : returned;
}

static struct sg_wakes_key key_of(const void *address)
{
    struct sg_wakes_key key;

    /* The first bytes of an address contain its worker's number. */
    memcpy(key.bytes, address, sizeof key.bytes);
    return key;
}

int sg_ucx_get_address(void *worker, void **address, size_t *size_bytes)
{
    __typeof__(&sg_ucx_get_address) function;
    bool is_mpich;
    int status;

    *(void **)&function = next_for_any(NUMBER_get_address, __builtin_return_address(0), &is_mpich);
    status = function(worker, address, size_bytes);
    if (is_mpich && status == 0 && *size_bytes >= sizeof(struct sg_wakes_key))
        sg_wakes_know_own(key_of(*address));
    return status;
}

int sg_ucx_create(void *worker, const struct endpoint_parameters *parameters, void **endpoint)
{
    __typeof__(&sg_ucx_create) function;
    bool is_mpich;
    int status;

    *(void **)&function = next_for_any(NUMBER_create, __builtin_return_address(0), &is_mpich);
    status = function(worker, parameters, endpoint);
    if (is_mpich && status == 0 && (parameters->members & HAS_ADDRESS) != 0)
        sg_wakes_know_endpoint(*endpoint, key_of(parameters->address));
    return status;
}

void *sg_ucx_disconnect(void *endpoint)
{
    __typeof__(&sg_ucx_disconnect) function;
    bool is_mpich;
    void *returned;

    *(void **)&function = next_for_any(NUMBER_disconnect, __builtin_return_address(0), &is_mpich);
    if (is_mpich)
        sg_wakes_forget_endpoint(endpoint);
    returned = function(endpoint);
    return returned;
}

void *sg_ucx_tag_send(void *endpoint, const void *buffer, size_t count, uint64_t tag,
                      const void *parameters)
{
    __typeof__(&sg_ucx_tag_send) function;
    bool notes;
    void *returned;

    *(void **)&function = next(NUMBER_tag_send, __builtin_return_address(0), &notes);
    returned = function(endpoint, buffer, count, tag, parameters);
    if (notes)
        sg_wakes_sent(endpoint, unfinished(returned));
    return returned;
}

void *sg_ucx_tag_send_sync(void *endpoint, const void *buffer, size_t count, uint64_t tag,
                           const void *parameters)
{
    __typeof__(&sg_ucx_tag_send_sync) function;
    bool notes;
    void *returned;

    *(void **)&function = next(NUMBER_tag_send_sync, __builtin_return_address(0), &notes);
    returned = function(endpoint, buffer, count, tag, parameters);
    if (notes)
        sg_wakes_sent(endpoint, unfinished(returned));
    return returned;
}

void *sg_ucx_am_send(void *endpoint, uint16_t number, const void *buffer, size_t count,
                     uint64_t type, void *callback, unsigned flags)
{
    __typeof__(&sg_ucx_am_send) function;
    bool notes;
    void *returned;

    *(void **)&function = next(NUMBER_am_send, __builtin_return_address(0), &notes);
    returned = function(endpoint, number, buffer, count, type, callback, flags);
    if (notes)
        sg_wakes_sent(endpoint, unfinished(returned));
    return returned;
}

int sg_ucx_put_at_once(void *endpoint, const void *buffer, size_t size_bytes, uint64_t remote,
                       void *key)
{
    __typeof__(&sg_ucx_put_at_once) function;
    bool notes;
    int status;

    *(void **)&function = next(NUMBER_put_at_once, __builtin_return_address(0), &notes);
    status = function(endpoint, buffer, size_bytes, remote, key);
    if (notes)
        sg_wakes_sent(endpoint, NULL);
    return status;
}

void *sg_ucx_put(void *endpoint, const void *buffer, size_t size_bytes, uint64_t remote, void *key,
                 void *callback)
{
    __typeof__(&sg_ucx_put) function;
    bool notes;
    void *returned;

    *(void **)&function = next(NUMBER_put, __builtin_return_address(0), &notes);
    returned = function(endpoint, buffer, size_bytes, remote, key, callback);
    if (notes)
        sg_wakes_sent(endpoint, unfinished(returned));
    return returned;
}

int sg_ucx_put_implicitly(void *endpoint, const void *buffer, size_t size_bytes, uint64_t remote,
                          void *key)
{
    __typeof__(&sg_ucx_put_implicitly) function;
    bool notes;
    int status;

    *(void **)&function = next(NUMBER_put_implicitly, __builtin_return_address(0), &notes);
    status = function(endpoint, buffer, size_bytes, remote, key);
    if (notes)
        sg_wakes_sent(endpoint, NULL);
    return status;
}

void *sg_ucx_get(void *endpoint, void *buffer, size_t size_bytes, uint64_t remote, void *key,
                 void *callback)
{
    __typeof__(&sg_ucx_get) function;
    bool notes;
    void *returned;

    *(void **)&function = next(NUMBER_get, __builtin_return_address(0), &notes);
    returned = function(endpoint, buffer, size_bytes, remote, key, callback);
    if (notes)
        sg_wakes_sent(endpoint, unfinished(returned));
    return returned;
}

int sg_ucx_get_implicitly(void *endpoint, void *buffer, size_t size_bytes, uint64_t remote,
                          void *key)
{
    __typeof__(&sg_ucx_get_implicitly) function;
    bool notes;
    int status;

    *(void **)&function = next(NUMBER_get_implicitly, __builtin_return_address(0), &notes);
    status = function(endpoint, buffer, size_bytes, remote, key);
    if (notes)
        sg_wakes_sent(endpoint, NULL);
    return status;
}

int sg_ucx_flush(void *endpoint)
{
    __typeof__(&sg_ucx_flush) function;
    bool notes;
    int status;

    *(void **)&function = next(NUMBER_flush, __builtin_return_address(0), &notes);
    if (notes)
        sg_wakes_begin_answer(endpoint);
    status = function(endpoint);
    if (notes)
        sg_wakes_end_answer(endpoint);
    return status;
}

void *sg_ucx_flush_all(void *worker, unsigned flags, void *callback)
{
    __typeof__(&sg_ucx_flush_all) function;
    bool notes;
    void *returned;

    *(void **)&function = next(NUMBER_flush_all, __builtin_return_address(0), &notes);
    returned = function(worker, flags, callback);
    if (notes)
        sg_wakes_flushed(unfinished(returned));
    return returned;
}

void *sg_ucx_receive(void *worker, void *buffer, size_t count, uint64_t tag, uint64_t mask,
                     const void *parameters)
{
    __typeof__(&sg_ucx_receive) function;
    bool notes;
    void *returned;

    *(void **)&function = next(NUMBER_receive, __builtin_return_address(0), &notes);
    returned = function(worker, buffer, count, tag, mask, parameters);
    if (notes)
        sg_wakes_progressed();
    return returned;
}

void *sg_ucx_receive_probed(void *worker, void *buffer, size_t count, void *message,
                            const void *parameters)
{
    __typeof__(&sg_ucx_receive_probed) function;
    bool notes;
    void *returned;

    *(void **)&function = next(NUMBER_receive_probed, __builtin_return_address(0), &notes);
    returned = function(worker, buffer, count, message, parameters);
    if (notes)
        sg_wakes_progressed();
    return returned;
}

void sg_ucx_release(void *request)
{
    __typeof__(&sg_ucx_release) function;
    bool notes;

    *(void **)&function = next(NUMBER_release, __builtin_return_address(0), &notes);
    if (notes)
        sg_wakes_ended(request);
    function(request);
}

void sg_ucx_free_request(void *request)
{
    __typeof__(&sg_ucx_free_request) function;
    bool notes;

    *(void **)&function = next(NUMBER_free_request, __builtin_return_address(0), &notes);
    if (notes)
        sg_wakes_ended(request);
    function(request);
}

/* ---- start ---- */

static const char *mpich; /* its object's base name */

static bool is_left_out(const char *object)
{
    return strcmp(object, mpich) != 0;
}

/* True for functions that send, and are not overridden. */
static bool is_unknown(const char *symbol)
{
    static const char *const beginnings[] = {"ucp_tag_send", "ucp_am_send",  "ucp_stream_send",
                                             "ucp_put",      "ucp_get_n",    "ucp_atomic",
                                             "ucp_ep_flush", "ucp_ep_close", "ucp_worker_flush"};

    for (int i = 0; i < COUNT; i++) {
        if (strcmp(symbol, callers[i].symbol) == 0)
            return false;
    }
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (strncmp(symbol, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    }
    return false;
}

bool sg_ucx_sends_start(void)
{
    for (int i = 0; i < COUNT; i++) {
        if (!sg_caller_start(&callers[i]))
            return false;
    }
    return true;
}

bool sg_ucx_sends_are_all(void)
{
    struct sg_import import;
    Dl_info object;

    if (dladdr((void *)sg_real.Init, &object) == 0 || object.dli_fname == NULL)
        return false;
    mpich = strrchr(object.dli_fname, '/');
    mpich = mpich == NULL ? object.dli_fname : mpich + 1;
    return !sg_imports_find(is_left_out, is_unknown, &import);
}
