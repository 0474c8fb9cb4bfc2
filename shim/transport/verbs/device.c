/* Chooses a device, a port and a GID, and opens them: those that are configured, else the first
 * device with an active port, that port, and the GID with the widest reach for RoCE v2 (that of an
 * IPv4 address).
 */
#include "transport/verbs/device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

struct sg_verbs_device sg_verbs_device;

static char reason_text[SG_VERBS_REASON_BYTES];

#define REASON(...) snprintf(reason_text, sizeof reason_text, __VA_ARGS__)

bool sg_verbs_gid_is_ipv4(const union ibv_gid *gid)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

    return memcmp(gid->raw, mapped, sizeof mapped) == 0;
}

static bool is_active(struct sg_verbs_device *device, int port)
{
    struct ibv_port_attr attributes;

    if (ibv_query_port(device->context, (uint8_t)port, &attributes) != 0 ||
        attributes.state != IBV_PORT_ACTIVE)
        return false;
    device->port = (uint8_t)port;
    device->port_attributes = attributes;
    return true;
}

static bool choose_port(struct sg_verbs_device *device)
{
    int wanted = device->settings.port;

    if (wanted > device->attributes.phys_port_cnt) {
        REASON("device %s has %d ports (STAGGER_VERBS_PORT=%d)", device->name,
               device->attributes.phys_port_cnt, wanted);
        return false;
    }
    for (int port = 1; port <= device->attributes.phys_port_cnt; port++) {
        if ((wanted < 0 || wanted == port) && is_active(device, port))
            return true;
    }
    if (wanted > 0)
        REASON("port %d of device %s is not active", wanted, device->name);
    else
        REASON("device %s has no active port", device->name);
    return false;
}

/* How well a GID serves; 0: not at all. */
static int worth(const struct ibv_gid_entry *entry)
{
    if (entry->gid_type != IBV_GID_TYPE_ROCE_V2)
        return entry->gid_type == IBV_GID_TYPE_ROCE_V1 ? 1 : 0;
    return sg_verbs_gid_is_ipv4(&entry->gid) ? 3 : 2;
}

static int best_gid(struct sg_verbs_device *device)
{
    int best = 0, best_worth = 0;

    if (!device->is_ethernet)
        return 0;
    for (int index = 0; index < device->port_attributes.gid_tbl_len; index++) {
        struct ibv_gid_entry entry;

        if (ibv_query_gid_ex(device->context, device->port, (uint32_t)index, &entry, 0) == 0 &&
            worth(&entry) > best_worth) {
            best = index;
            best_worth = worth(&entry);
        }
    }
    return best;
}

static bool choose_gid(struct sg_verbs_device *device)
{
    static const union ibv_gid none;

    device->is_ethernet = device->port_attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
    device->gid_index =
        device->settings.gid_index >= 0 ? device->settings.gid_index : best_gid(device);
    if (device->gid_index >= device->port_attributes.gid_tbl_len ||
        ibv_query_gid(device->context, device->port, device->gid_index, &device->gid) != 0 ||
        memcmp(&device->gid, &none, sizeof none) == 0) {
        REASON("port %d of device %s has no GID %d: %s", device->port, device->name,
               device->gid_index,
               device->settings.gid_index >= 0 ? "see STAGGER_VERBS_GID_INDEX"
                                               : "has its network an address?");
        return false;
    }
    return true;
}

static void choose_mtu(struct sg_verbs_device *device)
{
    device->mtu = device->port_attributes.active_mtu;
    while (device->settings.mtu > 0 && device->mtu > IBV_MTU_256 &&
           sg_verbs_mtu_bytes(device->mtu) > device->settings.mtu)
        device->mtu--;
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

/* False: this one will not do. */
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
        goto err_close;
    }
    if (!choose_port(device) || !choose_gid(device))
        goto err_close;
    choose_mtu(device);
    device->domain = ibv_alloc_pd(device->context);
    if (device->domain == NULL) {
        REASON("device %s gives no protection domain: %m", device->name);
        goto err_close;
    }
    return true;

err_close:
    close_device(device);
    return false;
}

static bool open_any(struct sg_verbs_device *device)
{
    const char *wanted = device->settings.device;
    struct ibv_device **list;
    int count = 0;
    bool found = false;

    REASON("there is no RDMA device");
    list = ibv_get_device_list(&count);
    if (list == NULL && errno != 0 && errno != ENOSYS)
        REASON("RDMA devices cannot be listed: %m");
    if (*wanted != '\0' && count > 0)
        REASON("there is no RDMA device %s (STAGGER_VERBS_DEVICE)", wanted);
    for (int i = 0; i < count && !found; i++) {
        if (*wanted == '\0' || strcmp(ibv_get_device_name(list[i]), wanted) == 0)
            found = open_device(device, list[i]);
    }
    if (list != NULL)
        ibv_free_device_list(list);
    return found;
}

bool sg_verbs_start(const struct sg_verbs_settings *settings, const char **reason)
{
    struct sg_verbs_device *device = &sg_verbs_device;

    if (device->context != NULL)
        return true;
    *reason = reason_text;
    device->settings = *settings;
    /* What is registered may be written by the adapter: a child must not share it by copying. */
    if (ibv_fork_init() != 0) {
        REASON("libibverbs cannot be made safe for programs that fork: %m");
        return false;
    }
    return open_any(device);
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
                 "%zu KiB beside %llu KiB registered are more than STAGGER_VERBS_MEMORY, %llu KiB",
                 bytes / 1024, (unsigned long long)before / 1024,
                 (unsigned long long)device->settings.memory_bytes / 1024);
    else if ((region = ibv_reg_mr(device->domain, memory, bytes, access)) == NULL &&
             errno == ENOMEM && lockable_bytes() != UINT64_MAX)
        snprintf(reason, SG_VERBS_REASON_BYTES,
                 "%zu KiB cannot be registered: the process may lock %llu KiB; raise it "
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
