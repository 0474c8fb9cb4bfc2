/* Chooses a device, a port and a GID, and opens them; registers memory and joins multicast groups.
 *
 * Each rank lists its networks, the best first; all take the first network of rank 0's list on
 * which each has a port: InfiniBand before Ethernet, then ports with atomic operations, those near
 * the processor, and the GID with the widest reach (RoCE version 2, of an IPv4 address).
 */
#include "transport/verbs/verbs_device.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct sg_verbs_device sg_verbs_device;

static char reason_text[SG_VERBS_REASON_BYTES];

#define REASON(...) snprintf(reason_text, sizeof reason_text, __VA_ARGS__)

/* True for the GID of an IPv4 address. */
static bool sg_verbs_gid_is_ipv4(const union ibv_gid *gid)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

    return memcmp(gid->raw, mapped, sizeof mapped) == 0;
}

/* ---- candidates ----------------------------------------------------------------------------- */

#define CHOICES_MAX 32

/* A port with one of its addresses. */
struct choice {
    int device; /* index in libibverbs' list */
    uint8_t port;
    int gid_index;
    uint16_t partition_index;
    uint32_t worth;
    /* Identifies the network, on which both ends must agree: its kind and, for InfiniBand, the
     * subnet's prefix; for Ethernet, RoCE's version and the kind of address. Never 0. */
    uint64_t network;
};

struct choices {
    int count;
    struct choice list[CHOICES_MAX];
};

#define NETWORK_ETHERNET 1u
#define NETWORK_V2 2u
#define NETWORK_IPV4 4u

static uint64_t network_of(const struct ibv_gid_entry *entry)
{
    uint64_t prefix;

    if (entry->gid_type == IBV_GID_TYPE_IB) {
        memcpy(&prefix, &entry->gid.global.subnet_prefix, sizeof prefix);
        return be64toh(prefix) << 1; /* the prefix's first bit is always 1 */
    }
    return NETWORK_ETHERNET | (entry->gid_type == IBV_GID_TYPE_ROCE_V2 ? NETWORK_V2 : 0) |
           (sg_verbs_gid_is_ipv4(&entry->gid) ? NETWORK_IPV4 : 0);
}

static void name_network(uint64_t network, char text[64])
{
    if (network & NETWORK_ETHERNET)
        snprintf(text, 64, "Ethernet with RoCE version %d and %s", network & NETWORK_V2 ? 2 : 1,
                 network & NETWORK_IPV4 ? "IPv4" : "IPv6");
    else
        snprintf(text, 64, "InfiniBand subnet %016llx",
                 (unsigned long long)(network >> 1 | UINT64_C(1) << 63));
}

/* True if the device is near this thread's processor, or its place is unknown. */
static bool is_near(const char *device)
{
    char path[128];
    unsigned processor, node;
    int found = -1;
    FILE *file;

    snprintf(path, sizeof path, "/sys/class/infiniband/%s/device/numa_node", device);
    file = fopen(path, "re");
    if (file != NULL && fscanf(file, "%d", &found) != 1)
        found = -1;
    if (file != NULL)
        fclose(file);
    return found < 0 || getcpu(&processor, &node) != 0 || (unsigned)found == node;
}

/* Finds the index of the wanted partition among the port's keys. False: missing. */
static bool find_partition(const struct sg_verbs_device *device, int entries, uint16_t *index)
{
    __be16 key;

    *index = 0;
    for (int i = 0; i < entries && device->settings.partition >= 0; i++) {
        if (ibv_query_pkey(device->context, device->port, i, &key) == 0 &&
            (be16toh(key) & 0x7fff) == device->settings.partition && key != 0) {
            *index = (uint16_t)i;
            return true;
        }
    }
    return device->settings.partition < 0;
}

static void add_choice(struct choices *choices, const struct choice *choice)
{
    int at = choices->count;

    for (int i = 0; i < choices->count; i++) {
        if (choices->list[i].device == choice->device && choices->list[i].port == choice->port &&
            choices->list[i].network == choice->network)
            return;
    }
    if (choices->count == CHOICES_MAX)
        return;
    choices->count++;
    for (; at > 0 && choices->list[at - 1].worth < choice->worth; at--)
        choices->list[at] = choices->list[at - 1];
    choices->list[at] = *choice;
}

static bool is_gid(const struct sg_verbs_device *device, int index, struct ibv_gid_entry *entry)
{
    static const union ibv_gid none;

    return ibv_query_gid_ex(device->context, device->port, (uint32_t)index, entry, 0) == 0 &&
           memcmp(&entry->gid, &none, sizeof none) != 0;
}

/* Adds each of the port's networks once. */
static void add_port(struct choices *choices, struct sg_verbs_device *device, int number)
{
    struct choice choice = {.device = number, .port = device->port};
    const struct ibv_port_attr *port = &device->port_attributes;
    int wanted = device->settings.gid_index, count = choices->count;
    struct ibv_gid_entry entry;

    if (!find_partition(device, port->pkey_tbl_len, &choice.partition_index)) {
        REASON("port %d of device %s has no key of partition %d (STAGGER_VERBS_PARTITION)",
               device->port, device->name, device->settings.partition);
        return;
    }
    for (int index = 0; index < port->gid_tbl_len; index++) {
        if ((wanted >= 0 && wanted != index) || !is_gid(device, index, &entry))
            continue;
        choice.gid_index = index;
        choice.network = network_of(&entry);
        choice.worth = (port->link_layer == IBV_LINK_LAYER_INFINIBAND ? 64u : 0) |
                       (device->attributes.atomic_cap != IBV_ATOMIC_NONE ? 32u : 0) |
                       (is_near(device->name) ? 16u : 0) |
                       (uint32_t)(choice.network & (NETWORK_V2 | NETWORK_IPV4));
        add_choice(choices, &choice);
    }
    if (choices->count == count)
        REASON("port %d of device %s has no GID: %s", device->port, device->name,
               wanted >= 0 ? "see STAGGER_VERBS_GID_INDEX"
                           : "does its network interface have an address?");
}

static bool is_active(struct sg_verbs_device *device, int port)
{
    device->port = (uint8_t)port;
    return ibv_query_port(device->context, device->port, &device->port_attributes) == 0 &&
           device->port_attributes.state == IBV_PORT_ACTIVE;
}

static void add_ports(struct choices *choices, struct sg_verbs_device *device, int number)
{
    int wanted = device->settings.port, active = 0;

    if (wanted > device->attributes.phys_port_cnt) {
        REASON("device %s has %d ports (STAGGER_VERBS_PORT=%d)", device->name,
               device->attributes.phys_port_cnt, wanted);
        return;
    }
    for (int port = 1; port <= device->attributes.phys_port_cnt; port++) {
        if ((wanted > 0 && wanted != port) || !is_active(device, port))
            continue;
        active++;
        add_port(choices, device, number);
    }
    if (active == 0 && wanted > 0)
        REASON("port %d of device %s is not active", wanted, device->name);
    else if (active == 0)
        REASON("device %s has no active port", device->name);
}

static void close_device(struct sg_verbs_device *device)
{
    if (device->domain != NULL)
        ibv_dealloc_pd(device->domain);
    if (device->context != NULL)
        ibv_close_device(device->context);
    device->domain = NULL;
    device->context = NULL;
}

static bool open_device(struct sg_verbs_device *device, struct ibv_device *entry)
{
    snprintf(device->name, sizeof device->name, "%s", ibv_get_device_name(entry));
    device->context = ibv_open_device(entry);
    if (device->context == NULL) {
        REASON("device %s cannot be opened: %m", device->name);
        return false;
    }
    if (ibv_query_device(device->context, &device->attributes) != 0) {
        REASON("device %s does not answer", device->name);
        close_device(device);
        return false;
    }
    return true;
}

/* Lists all wanted devices; the reason describes the last one without a candidate. */
static void survey(struct sg_verbs_device *device, struct ibv_device **list, int count,
                   struct choices *choices)
{
    const char *wanted = device->settings.device;

    for (int i = 0; i < count; i++) {
        if ((*wanted != '\0' && strcmp(ibv_get_device_name(list[i]), wanted) != 0) ||
            !open_device(device, list[i]))
            continue;
        add_ports(choices, device, i);
        close_device(device);
    }
}

/* ---- choice --------------------------------------------------------------------------------- */

#define NETWORKS_MAX 8

/* A rank's networks, the best first; 0 after the last. */
struct networks {
    uint64_t list[NETWORKS_MAX];
};

static bool has_network(const struct networks *networks, uint64_t network)
{
    for (int i = 0; i < NETWORKS_MAX; i++) {
        if (networks->list[i] == network)
            return true;
    }
    return false;
}

static struct networks networks_of(const struct choices *choices)
{
    struct networks found = {{0}};
    int count = 0;

    for (int i = 0; i < choices->count && count < NETWORKS_MAX; i++) {
        if (!has_network(&found, choices->list[i].network))
            found.list[count++] = choices->list[i].network;
    }
    return found;
}

/* Collective: chooses the first of rank 0's networks that all ranks have, identically on all ranks.
 * False: the reason says why. If a rank has no device, only that rank has a reason. */
static bool agree(const struct sg_exchange *exchange, const struct choices *choices,
                  uint64_t *network)
{
    struct networks own = networks_of(choices), first = own;
    uint64_t has[NETWORKS_MAX + 1] = {0}; /* the last: any network */
    char text[64];

    *network = own.list[0];
    if (exchange == NULL)
        return *network != 0;
    if (exchange->broadcast(exchange->context, &first, sizeof first) != SG_OK)
        return false;
    for (int i = 0; i < NETWORKS_MAX && first.list[i] != 0; i++)
        has[i] = has_network(&own, first.list[i]);
    has[NETWORKS_MAX] = own.list[0] != 0;
    if (sg_exchange_combine(exchange, SG_COMBINE_LEAST, has, NETWORKS_MAX + 1) != SG_OK)
        return false;
    if (!has[NETWORKS_MAX])
        return *network != 0;
    *network = 0;
    for (int i = 0; i < NETWORKS_MAX && *network == 0; i++)
        *network = has[i] ? first.list[i] : 0;
    if (*network == 0) {
        name_network(own.list[0], text);
        REASON("there is no network on which all ranks have a port; the best one here is %s", text);
    }
    return *network != 0;
}

static void choose_mtu(struct sg_verbs_device *device)
{
    device->mtu = device->port_attributes.active_mtu;
    while (device->settings.mtu > 0 && device->mtu > IBV_MTU_256 &&
           sg_verbs_mtu_bytes(device->mtu) > device->settings.mtu)
        device->mtu--;
}

static bool use(struct sg_verbs_device *device, struct ibv_device **list,
                const struct choice *choice)
{
    if (!open_device(device, list[choice->device]))
        return false;
    device->gid_index = choice->gid_index;
    device->partition_index = choice->partition_index;
    if (!is_active(device, choice->port) ||
        ibv_query_gid(device->context, device->port, device->gid_index, &device->gid) != 0) {
        REASON("port %d of device %s has disappeared", choice->port, device->name);
        goto err_close;
    }
    device->is_ethernet = device->port_attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
    choose_mtu(device);
    device->domain = ibv_alloc_pd(device->context);
    if (device->domain == NULL) {
        REASON("device %s provides no protection domain: %m", device->name);
        goto err_close;
    }
    return true;

err_close:
    close_device(device);
    return false;
}

static bool open_best(struct sg_verbs_device *device, const struct sg_exchange *exchange)
{
    struct choices choices = {0};
    struct ibv_device **list;
    uint64_t network;
    int count = 0, at = 0;
    bool found;

    REASON("there is no RDMA device");
    list = ibv_get_device_list(&count);
    if (list == NULL && errno != 0 && errno != ENOSYS)
        REASON("RDMA devices cannot be listed: %m");
    if (*device->settings.device != '\0' && count > 0)
        REASON("there is no RDMA device %s (STAGGER_VERBS_DEVICE)", device->settings.device);
    survey(device, list, count, &choices);
    found = agree(exchange, &choices, &network);
    while (found && choices.list[at].network != network)
        at++;
    found = found && use(device, list, &choices.list[at]);
    if (list != NULL)
        ibv_free_device_list(list);
    return found;
}

/* The adapter may write registered memory, so a child must not share it by copying. Since Linux
 * 5.12 the kernel ensures that; before, libibverbs marks pages from here on, which fails if memory
 * has been registered without. */
static bool is_safe_to_fork(void)
{
    return ibv_fork_init() == 0 || ibv_is_fork_initialized() != IBV_FORK_DISABLED;
}

bool sg_verbs_start(const struct sg_verbs_settings *settings, const struct sg_exchange *exchange,
                    const char **reason)
{
    static const struct choices none;
    struct sg_verbs_device *device = &sg_verbs_device;
    uint64_t network;

    if (device->context != NULL)
        return true;
    *reason = reason_text;
    device->settings = *settings;
    device->has_bad_links = false;
    if (is_safe_to_fork())
        return open_best(device, exchange);
    REASON("libibverbs cannot be made fork-safe, because memory is already registered: set "
           "RDMAV_FORK_SAFE=1");
    return agree(exchange, &none, &network);
}

static uint64_t lockable_bytes(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

void sg_verbs_describe(struct sg_verbs_description *out)
{
    const struct sg_verbs_device *device = &sg_verbs_device;

    memset(out, 0, sizeof *out);
    memcpy(out->device, device->name, sizeof out->device);
    if (sg_verbs_gid_is_ipv4(&device->gid))
        inet_ntop(AF_INET, device->gid.raw + 12, out->gid, sizeof out->gid);
    else
        inet_ntop(AF_INET6, device->gid.raw, out->gid, sizeof out->gid);
    out->link_layer = device->is_ethernet ? "Ethernet" : "InfiniBand";
    out->port = device->port;
    out->gid_index = device->gid_index;
    out->mtu = sg_verbs_mtu_bytes(device->mtu);
    out->locked_bytes = lockable_bytes();
}

void sg_verbs_stop(void)
{
    close_device(&sg_verbs_device);
}

void sg_verbs_forget(void)
{
    sg_verbs_device.domain = NULL;
    sg_verbs_device.context = NULL;
}

struct ibv_mr *sg_verbs_register(void *memory, size_t bytes, char *reason)
{
    struct sg_verbs_device *device = &sg_verbs_device;
    int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                 IBV_ACCESS_REMOTE_ATOMIC;
    uint64_t before = atomic_fetch_add(&device->registered_bytes, bytes);
    struct ibv_mr *region = NULL;

    if (before + bytes > device->settings.memory_bytes)
        snprintf(reason, SG_VERBS_REASON_BYTES,
                 "%zu KiB in addition to %llu KiB registered exceed STAGGER_VERBS_MEMORY, %llu KiB",
                 bytes / 1024, (unsigned long long)before / 1024,
                 (unsigned long long)device->settings.memory_bytes / 1024);
    else if ((region = ibv_reg_mr(device->domain, memory, bytes, access)) == NULL &&
             errno == ENOMEM && lockable_bytes() != UINT64_MAX)
        snprintf(reason, SG_VERBS_REASON_BYTES,
                 "%zu KiB cannot be registered: the process may lock %llu KiB; raise this limit "
                 "(ulimit -l unlimited)",
                 bytes / 1024, (unsigned long long)lockable_bytes() / 1024);
    else if (region == NULL)
        snprintf(reason, SG_VERBS_REASON_BYTES, "%zu KiB cannot be registered: %m", bytes / 1024);
    if (region == NULL)
        atomic_fetch_sub(&device->registered_bytes, bytes);
    return region;
}

void sg_verbs_unregister(struct ibv_mr *region)
{
    atomic_fetch_sub(&sg_verbs_device.registered_bytes, region->length);
    ibv_dereg_mr(region);
}

#define WAIT_MS 5000

/* True if a network interface belongs to the device, whose sysfs directory lists its interfaces. */
static bool is_of_device(const char *interface)
{
    char path[256];

    snprintf(path, sizeof path, "/sys/class/infiniband/%s/device/net/%s", sg_verbs_device.name,
             interface);
    return access(path, F_OK) == 0;
}

/* Finds the IPv4 address from which the group is joined: the GID's, else that of an interface of
 * the device. */
static bool find_own_address(struct sockaddr_in *out)
{
    struct ifaddrs *all = NULL;
    bool found = false;

    out->sin_family = AF_INET;
    if (sg_verbs_gid_is_ipv4(&sg_verbs_device.gid)) {
        memcpy(&out->sin_addr, sg_verbs_device.gid.raw + 12, sizeof out->sin_addr);
        return true;
    }
    if (getifaddrs(&all) != 0)
        return false;
    for (const struct ifaddrs *each = all; each != NULL && !found; each = each->ifa_next) {
        if (each->ifa_addr == NULL || each->ifa_addr->sa_family != AF_INET ||
            !is_of_device(each->ifa_name))
            continue;
        *out = *(const struct sockaddr_in *)(const void *)each->ifa_addr;
        out->sin_port = 0;
        found = true;
    }
    freeifaddrs(all);
    return found;
}

/* False: another event, or none in time. */
static bool await(struct sg_verbs_group *group, enum rdma_cm_event_type wanted, char *reason)
{
    struct pollfd readable = {.fd = group->events->fd, .events = POLLIN};
    struct rdma_cm_event *event;
    bool is_it;
    int ready;

    do {
        ready = poll(&readable, 1, WAIT_MS);
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0 || rdma_get_cm_event(group->events, &event) != 0) {
        snprintf(reason, SG_VERBS_REASON_BYTES, "no answer within %d s", WAIT_MS / 1000);
        return false;
    }
    is_it = event->event == wanted && event->status == 0;
    if (!is_it)
        snprintf(reason, SG_VERBS_REASON_BYTES, "%s, status %d", rdma_event_str(event->event),
                 event->status);
    if (is_it && wanted == RDMA_CM_EVENT_MULTICAST_JOIN) {
        group->way = event->param.ud.ah_attr;
        group->queue_pair = event->param.ud.qp_num;
        group->key = event->param.ud.qkey;
    }
    rdma_ack_cm_event(event);
    return is_it;
}

static bool is_same_device(const struct sg_verbs_group *group, char *reason)
{
    const char *found =
        group->id->verbs != NULL ? ibv_get_device_name(group->id->verbs->device) : "none";

    if (strcmp(found, sg_verbs_device.name) == 0)
        return true;
    snprintf(reason, SG_VERBS_REASON_BYTES, "its network leads to device %s, not %s", found,
             sg_verbs_device.name);
    return false;
}

bool sg_verbs_group_join(struct sg_verbs_group *group, uint32_t address, char *reason)
{
    struct sockaddr_in own = {0};

    group->address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = address};
    if (!find_own_address(&own)) {
        snprintf(reason, SG_VERBS_REASON_BYTES, "device %s has no IPv4 address",
                 sg_verbs_device.name);
        return false;
    }
    group->events = rdma_create_event_channel();
    if (group->events == NULL || fcntl(group->events->fd, F_SETFL, O_NONBLOCK) != 0 ||
        rdma_create_id(group->events, &group->id, NULL, RDMA_PS_UDP) != 0 ||
        rdma_resolve_addr(group->id, (struct sockaddr *)&own, (struct sockaddr *)&group->address,
                          WAIT_MS) != 0) {
        snprintf(reason, SG_VERBS_REASON_BYTES, "librdmacm: %m");
        return false;
    }
    if (!await(group, RDMA_CM_EVENT_ADDR_RESOLVED, reason) || !is_same_device(group, reason))
        return false;
    if (rdma_join_multicast(group->id, (struct sockaddr *)&group->address, NULL) != 0) {
        snprintf(reason, SG_VERBS_REASON_BYTES, "librdmacm: %m");
        return false;
    }
    group->is_joined = await(group, RDMA_CM_EVENT_MULTICAST_JOIN, reason);
    return group->is_joined;
}

void sg_verbs_group_leave(struct sg_verbs_group *group)
{
    if (group->is_joined)
        rdma_leave_multicast(group->id, (struct sockaddr *)&group->address);
    if (group->id != NULL)
        rdma_destroy_id(group->id);
    if (group->events != NULL)
        rdma_destroy_event_channel(group->events);
    memset(group, 0, sizeof *group);
}
