#include "transport/verbs/group.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 5000

/* Whether a network interface is the device's: its directory in sysfs lists them. */
static bool is_of_device(const char *interface)
{
    char path[256];

    snprintf(path, sizeof path, "/sys/class/infiniband/%s/device/net/%s", sg_verbs_device.name,
             interface);
    return access(path, F_OK) == 0;
}

/* The IPv4 address that the group is joined from: the GID's, else that of an interface of the
 * device. */
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
