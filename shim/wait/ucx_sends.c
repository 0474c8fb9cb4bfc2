/* Stand-ins for UCX's functions through which MPICH sends (ucx_sends.h). hook_ucx.c overrides a
 * symbol, in every process; these are only where wakes are, in MPICH's own table of imports, so
 * that other processes pay nothing for them.
 *
 * Declarations follow ucp.h of UCX 1, with opaque pointers: no header of UCX is needed.
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
enum { OVERRIDES(NUMBER) COUNT };

/* In the order of NUMBER_. */
static struct sg_replacement all[COUNT];

/* Declares `function`, the one that this override stands before. */
#define STANDS_BEFORE(name)                                                                        \
    __typeof__(&name) function;                                                                    \
    *(void **)&function = all[NUMBER_##name].was

/* NULL: the operation that returned it has ended. */
static const void *unfinished(const void *returned)
{
    return (uintptr_t)returned >= ERRORS ? NULL : returned;
}

/* Both return what UCX has returned. */
static void *note_send(const void *endpoint, void *returned)
{
    if (sg_wakes_are_on)
        sg_wakes_sent(endpoint, unfinished(returned));
    return returned;
}

static int note_ended_send(const void *endpoint, int status)
{
    if (sg_wakes_are_on)
        sg_wakes_sent(endpoint, NULL);
    return status;
}

static struct sg_wakes_key key_of(const void *address)
{
    struct sg_wakes_key key;

    /* The first bytes of an address contain its worker's number. */
    memcpy(key.bytes, address, sizeof key.bytes);
    return key;
}

static int get_address(void *worker, void **address, size_t *size_bytes)
{
    STANDS_BEFORE(get_address);
    int status;

    status = function(worker, address, size_bytes);
    if (status == 0 && *size_bytes >= sizeof(struct sg_wakes_key))
        sg_wakes_know_own(key_of(*address));
    return status;
}

static int create(void *worker, const struct endpoint_parameters *parameters, void **endpoint)
{
    STANDS_BEFORE(create);
    int status;

    status = function(worker, parameters, endpoint);
    if (status == 0 && (parameters->members & HAS_ADDRESS) != 0)
        sg_wakes_know_endpoint(*endpoint, key_of(parameters->address));
    return status;
}

static void *disconnect(void *endpoint)
{
    STANDS_BEFORE(disconnect);

    sg_wakes_forget_endpoint(endpoint);
    return function(endpoint);
}

static void *tag_send(void *endpoint, const void *buffer, size_t count, uint64_t tag,
                      const void *parameters)
{
    STANDS_BEFORE(tag_send);

    return note_send(endpoint, function(endpoint, buffer, count, tag, parameters));
}

static void *tag_send_sync(void *endpoint, const void *buffer, size_t count, uint64_t tag,
                           const void *parameters)
{
    STANDS_BEFORE(tag_send_sync);

    return note_send(endpoint, function(endpoint, buffer, count, tag, parameters));
}

static void *am_send(void *endpoint, uint16_t number, const void *buffer, size_t count,
                     uint64_t type, void *callback, unsigned flags)
{
    STANDS_BEFORE(am_send);

    return note_send(endpoint, function(endpoint, number, buffer, count, type, callback, flags));
}

static int put_at_once(void *endpoint, const void *buffer, size_t size_bytes, uint64_t remote,
                       void *key)
{
    STANDS_BEFORE(put_at_once);

    return note_ended_send(endpoint, function(endpoint, buffer, size_bytes, remote, key));
}

static void *put(void *endpoint, const void *buffer, size_t size_bytes, uint64_t remote, void *key,
                 void *callback)
{
    STANDS_BEFORE(put);

    return note_send(endpoint, function(endpoint, buffer, size_bytes, remote, key, callback));
}

static int put_implicitly(void *endpoint, const void *buffer, size_t size_bytes, uint64_t remote,
                          void *key)
{
    STANDS_BEFORE(put_implicitly);

    return note_ended_send(endpoint, function(endpoint, buffer, size_bytes, remote, key));
}

static void *get(void *endpoint, void *buffer, size_t size_bytes, uint64_t remote, void *key,
                 void *callback)
{
    STANDS_BEFORE(get);

    return note_send(endpoint, function(endpoint, buffer, size_bytes, remote, key, callback));
}

static int get_implicitly(void *endpoint, void *buffer, size_t size_bytes, uint64_t remote,
                          void *key)
{
    STANDS_BEFORE(get_implicitly);

    return note_ended_send(endpoint, function(endpoint, buffer, size_bytes, remote, key));
}

static int flush(void *endpoint)
{
    STANDS_BEFORE(flush);
    int status;

    if (sg_wakes_are_on)
        sg_wakes_begin_answer(endpoint);
    status = function(endpoint);
    if (sg_wakes_are_on)
        sg_wakes_end_answer(endpoint);
    return status;
}

static void *flush_all(void *worker, unsigned flags, void *callback)
{
    STANDS_BEFORE(flush_all);
    void *returned;

    returned = function(worker, flags, callback);
    if (sg_wakes_are_on)
        sg_wakes_flushed(unfinished(returned));
    return returned;
}

static void *receive(void *worker, void *buffer, size_t count, uint64_t tag, uint64_t mask,
                     const void *parameters)
{
    STANDS_BEFORE(receive);
    void *returned;

    returned = function(worker, buffer, count, tag, mask, parameters);
    if (sg_wakes_are_on)
        sg_wakes_progressed();
    return returned;
}

static void *receive_probed(void *worker, void *buffer, size_t count, void *message,
                            const void *parameters)
{
    STANDS_BEFORE(receive_probed);
    void *returned;

    returned = function(worker, buffer, count, message, parameters);
    if (sg_wakes_are_on)
        sg_wakes_progressed();
    return returned;
}

static void release(void *request)
{
    STANDS_BEFORE(release);

    if (sg_wakes_are_on)
        sg_wakes_ended(request);
    function(request);
}

static void free_request(void *request)
{
    STANDS_BEFORE(free_request);

    if (sg_wakes_are_on)
        sg_wakes_ended(request);
    function(request);
}

/* ---- start ---- */

#define REPLACEMENT(name, text) {text, (void *)name, NULL},
static struct sg_replacement all[COUNT] = {OVERRIDES(REPLACEMENT)};

static const char *mpich; /* its object's base name */

static bool is_left_out(const char *object)
{
    return strcmp(object, mpich) != 0;
}

/* True for functions that send, and have no stand-in. */
static bool is_unknown(const char *symbol)
{
    static const char *const beginnings[] = {"ucp_tag_send", "ucp_am_send",  "ucp_stream_send",
                                             "ucp_put",      "ucp_get_n",    "ucp_atomic",
                                             "ucp_ep_flush", "ucp_ep_close", "ucp_worker_flush"};

    for (int i = 0; i < COUNT; i++) {
        if (strcmp(symbol, all[i].symbol) == 0)
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
    struct sg_import import;
    Dl_info object;

    if (dladdr((void *)sg_real.Init, &object) == 0 || object.dli_fname == NULL)
        return false;
    mpich = strrchr(object.dli_fname, '/');
    mpich = mpich == NULL ? object.dli_fname : mpich + 1;
    if (sg_imports_find(is_left_out, is_unknown, &import))
        return false;
    for (int i = 0; i < COUNT; i++) {
        if (all[i].was == NULL)
            all[i].was = sg_caller_find(all[i].symbol);
        if (all[i].was == NULL)
            return false;
    }
    return sg_imports_replace((void *)sg_real.Init, all, COUNT);
}
