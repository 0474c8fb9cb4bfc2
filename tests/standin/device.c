/* A stand-in for libibverbs, and for the part of librdmacm that reports that there is no multicast.
 * libstagger-verbs.so is linked with it instead of these libraries, so that processes of this
 * machine reach each other by RDMA as the transport uses it (wire.h), with faults that no available
 * adapter shows. The environment describes the devices:
 *
 *   STANDIN           the file that is the network; not set: no device
 *   STANDIN_DEVICES   NAME=PORT[+PORT],...  PORT: eth or ib, then :NETWORK, then words, each after
 *                     a colon: down, v1 (RoCE v1 alone), pHEX (its second partition key)
 *   STANDIN_FAULTS    words that this process's adapter obeys: no-atomics, no-fork, reorder,
 *                     fail-write, fail-read, fail-add
 *
 * A setting whose name ends in _N applies to machine N, from 1.
 */
#include "device.h"
#include "machine.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 8
#define DEFAULT_PARTITION 0xffff

/* This machine's setting, or else the one for all machines. */
static const char *setting(const char *name)
{
    char own[64];

    snprintf(own, sizeof own, "%s_%d", name, machine_number());
    const char *value = getenv(own);
    return value != NULL ? value : getenv(name);
}

bool standin_has_fault(const char *word)
{
    const char *faults = setting("STANDIN_FAULTS");
    size_t length = strlen(word);

    for (; faults != NULL && *faults != '\0'; faults += *faults == ',') {
        size_t here = strcspn(faults, ",");

        if (here == length && strncmp(faults, word, length) == 0)
            return true;
        faults += here;
    }
    return false;
}

/* ---- devices --------------------------------------------------------------------------------- */

static void parse_port(struct port *port, char *text)
{
    char *rest = NULL, *word = strtok_r(text, ":", &rest);

    *port = (struct port){.is_up = true};
    port->wire.is_ethernet = strcmp(word, "eth") == 0;
    port->wire.versions = port->wire.is_ethernet ? 3 : 0;
    port->wire.network = (uint32_t)atoi(strtok_r(NULL, ":", &rest));
    while ((word = strtok_r(NULL, ":", &rest)) != NULL) {
        if (strcmp(word, "down") == 0)
            port->is_up = false;
        else if (strcmp(word, "v1") == 0)
            port->wire.versions = 1;
        else if (*word == 'p')
            port->wire.partition = (uint16_t)strtoul(word + 1, NULL, 16);
    }
}

static void parse_device(struct device *device, char *text)
{
    char *rest = NULL, *ports = strchr(text, '='), *port;

    *device = (struct device){.has_atomics = !standin_has_fault("no-atomics")};
    *ports++ = '\0';
    snprintf(device->base.name, sizeof device->base.name, "%s", text);
    for (port = strtok_r(ports, "+", &rest); port != NULL; port = strtok_r(NULL, "+", &rest))
        parse_port(&device->port[device->ports++], port);
}

struct ibv_device **ibv_get_device_list(int *count)
{
    const char *described = setting("STANDIN_DEVICES");
    struct ibv_device **list = calloc(DEVICES_MAX + 1, sizeof *list);
    char *text = strdup(described != NULL ? described : "rxe0=eth:1"), *rest = NULL, *each;
    int found = 0;

    if (list == NULL || text == NULL)
        abort();
    for (each = strtok_r(text, ",", &rest); each != NULL && getenv("STANDIN") != NULL;
         each = strtok_r(NULL, ",", &rest)) {
        struct device *device = malloc(sizeof *device);

        if (device == NULL || found == DEVICES_MAX)
            abort();
        parse_device(device, each);
        list[found++] = &device->base;
    }
    free(text);
    if (count != NULL)
        *count = found;
    return list;
}

/* An open device keeps a copy. */
void ibv_free_device_list(struct ibv_device **list)
{
    for (int i = 0; list[i] != NULL; i++)
        free(list[i]);
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

int ibv_fork_init(void)
{
    return standin_has_fault("no-fork") ? EINVAL : 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return standin_has_fault("no-fork") ? IBV_FORK_DISABLED : IBV_FORK_ENABLED;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    struct adapter *adapter = calloc(1, sizeof *adapter);

    if (adapter == NULL)
        abort();
    wire_start(getenv("STANDIN"));
    adapter->device = malloc(sizeof *adapter->device);
    if (adapter->device == NULL)
        abort();
    *adapter->device = *(struct device *)device;
    adapter->context.device = &adapter->device->base;
    adapter->inbox = wire_open();
    pthread_mutex_init(&adapter->lock, NULL);
    verbs_start(&adapter->context);
    engine_start(adapter);
    return &adapter->context;
}

int ibv_close_device(struct ibv_context *context)
{
    struct adapter *adapter = (struct adapter *)context;

    engine_stop(adapter);
    free(adapter->device);
    free(adapter);
    return 0;
}

/* ---- what they say of themselves ------------------------------------------------------------- */

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    const struct device *device = ((struct adapter *)context)->device;

    *attr = (struct ibv_device_attr){.max_qp_rd_atom = 16,
                                     .max_qp_init_rd_atom = 16,
                                     .max_srq_wr = 4096,
                                     .max_qp_wr = 4096,
                                     .max_cqe = 1 << 20,
                                     .atomic_cap =
                                         device->has_atomics ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE,
                                     .phys_port_cnt = (uint8_t)device->ports};
    return 0;
}

static const struct port *port_at(const struct ibv_context *context, uint32_t number)
{
    const struct device *device = ((const struct adapter *)context)->device;

    return number >= 1 && number <= (uint32_t)device->ports ? &device->port[number - 1] : NULL;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t number, struct _compat_ibv_port_attr *out)
{
    const struct port *port = port_at(context, number);

    if (port == NULL)
        return EINVAL;
    struct ibv_port_attr attr = (struct ibv_port_attr){
        .state = port->is_up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
        .active_mtu = IBV_MTU_1024,
        .gid_tbl_len = GIDS,
        .pkey_tbl_len = 2,
        .lid = (uint16_t)(port->wire.is_ethernet ? 0 : ((struct adapter *)context)->inbox + 1),
        .link_layer = port->wire.is_ethernet ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND};
    memcpy(out, &attr, sizeof attr); /* the caller's is one, see ___ibv_query_port */
    return 0;
}

/* RoCE lists each address twice: for version 1, then for version 2. */
void gid_of(const struct wire_port *port, uint32_t inbox, int index, union ibv_gid *gid,
            uint32_t *type)
{
    memset(gid, 0, sizeof *gid);
    *type = IBV_GID_TYPE_IB;
    if (!port->is_ethernet && index > 0)
        return;
    if (port->is_ethernet && index >= 2) {
        gid->raw[10] = gid->raw[11] = 0xff;
        gid->raw[12] = 10;
        gid->raw[13] = 78;
        gid->raw[14] = (uint8_t)port->network;
        gid->raw[15] = (uint8_t)(inbox + 1);
    } else {
        gid->raw[0] = 0xfe;
        gid->raw[1] = 0x80;
        gid->raw[7] = (uint8_t)(port->is_ethernet ? 0 : port->network);
        gid->raw[15] = (uint8_t)(inbox + 1);
    }
    if (port->is_ethernet)
        *type = index % 2 == 0 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
    if (port->is_ethernet && !(port->versions >> index % 2 & 1))
        memset(gid, 0, sizeof *gid);
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t number, uint32_t index,
                      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
    static const union ibv_gid none;
    const struct port *port = port_at(context, number);

    if (port == NULL || index >= GIDS)
        return EINVAL;
    *entry = (struct ibv_gid_entry){.gid_index = index, .port_num = number};
    gid_of(&port->wire, ((struct adapter *)context)->inbox, (int)index, &entry->gid,
           &entry->gid_type);
    return memcmp(&entry->gid, &none, sizeof none) != 0 ? 0 : ENODATA;
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    struct ibv_gid_entry entry;
    int error = _ibv_query_gid_ex(context, port, (uint32_t)index, &entry, 0, sizeof entry);

    *gid = entry.gid;
    return error != 0 ? -1 : 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t number, int index, __be16 *key)
{
    const struct port *port = port_at(context, number);

    if (port == NULL || index < 0 || index > 1)
        return -1;
    *key = htobe16(index == 0 ? DEFAULT_PARTITION : port->wire.partition);
    return 0;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    return status == IBV_WC_RETRY_EXC_ERR     ? "transport retry counter exceeded"
           : status == IBV_WC_REM_INV_REQ_ERR ? "remote invalid request error"
           : status == IBV_WC_REM_ACCESS_ERR  ? "remote access error"
           : status == IBV_WC_WR_FLUSH_ERR    ? "Work Request Flushed Error"
                                              : "another error";
}

/* ---- no multicast ---------------------------------------------------------------------------- */

struct rdma_event_channel *rdma_create_event_channel(void)
{
    errno = ENOSYS;
    return NULL;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                   enum rdma_port_space space)
{
    return -1;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int wait)
{
    return -1;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
    return -1;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
    return -1;
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
    return "none";
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *address, void *context)
{
    return -1;
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *address)
{
    return -1;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
    return 0;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *domain, struct ibv_ah_attr *attr)
{
    return NULL;
}

int ibv_destroy_ah(struct ibv_ah *address)
{
    return 0;
}

int ibv_attach_mcast(struct ibv_qp *pair, const union ibv_gid *gid, uint16_t lid)
{
    return ENOSYS;
}

int ibv_detach_mcast(struct ibv_qp *pair, const union ibv_gid *gid, uint16_t lid)
{
    return ENOSYS;
}
