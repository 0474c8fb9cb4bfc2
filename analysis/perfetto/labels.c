#include "perfetto/labels.h"

#include "core/room.h"
#include "core/text.h"
#include "output/format.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *sg_label_quote(const char *text)
{
    char *clean = sg_format_clean(text, true);
    json_t *string = clean != NULL ? json_string(clean) : NULL;
    char *quoted = string != NULL ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

    json_decref(string);
    free(clean);
    return quoted;
}

/* "allreduce dot cg.c:83", with what is known. */
static char *title_of(const char *operation, const struct sg_report_site *site)
{
    char *title = NULL, *quoted;
    int length;

    if (site->file != NULL)
        length = asprintf(
            &title, "%s %s%s%s:%" PRIu32, operation, site->function != NULL ? site->function : "",
            site->function != NULL ? " " : "", sg_text_base_name(site->file), site->line);
    else if (site->function != NULL)
        length = asprintf(&title, "%s %s", operation, site->function);
    else if (site->module != NULL)
        length = asprintf(&title, "%s %s+0x%" PRIx64, operation, sg_text_base_name(site->module),
                          site->offset);
    else
        length = asprintf(&title, "%s", operation);
    if (length < 0)
        return NULL;
    quoted = sg_label_quote(title);
    free(title);
    return quoted;
}

static enum sg_status make_label(const struct sg_aggregate *aggregate, uint32_t row,
                                 struct sg_label *label)
{
    struct sg_report_site name;
    char id[32] = "";

    sg_aggregate_name_row(aggregate, row, &name);
    if (name.has_id)
        snprintf(id, sizeof id, ",\"site\":\"%08" PRIx32 "\"", name.id);
    label->name = title_of(sg_site_operation(&name), &name);
    label->comm = sg_label_quote(name.comm);
    if (label->name == NULL || label->comm == NULL ||
        asprintf(&label->arguments, "\"comm\":%s%s", label->comm, id) < 0) {
        label->arguments = NULL;
        return SG_ERR_MEMORY;
    }
    if (asprintf(&label->late_name, "\"late for %s", label->name + 1) < 0) {
        label->late_name = NULL;
        return SG_ERR_MEMORY;
    }
    return SG_OK;
}

enum sg_status sg_label_of(struct sg_labels *labels, const struct sg_aggregate *aggregate,
                           uint32_t row, const struct sg_label **out)
{
    enum sg_status status = SG_OK;

    if (!SG_EXTEND(labels->rows, labels->row_room, row))
        return SG_ERR_MEMORY;
    if (labels->rows[row].name == NULL)
        status = make_label(aggregate, row, &labels->rows[row]);
    *out = &labels->rows[row];
    return status;
}

static enum sg_status make_call_label(const struct sg_aggregate *aggregate,
                                      const struct sg_seen_call *call, struct sg_slice_label *out)
{
    struct sg_report_site site = {0};
    char id[32] = "";

    sg_aggregate_name_site(aggregate, call->site, &site);
    if (site.has_id)
        snprintf(id, sizeof id, "\"site\":\"%08" PRIx32 "\"", site.id);
    out->name = title_of(call->name, &site);
    out->site = strdup(id);
    if (out->name != NULL && out->site != NULL)
        return SG_OK;
    free(out->name);
    free(out->site);
    return SG_ERR_MEMORY;
}

enum sg_status sg_label_call(struct sg_labels *labels, const struct sg_aggregate *aggregate,
                             const struct sg_seen_call *call, const struct sg_slice_label **out)
{
    uint64_t key = (uint64_t)call->function << 32 | call->site;
    int64_t found = sg_map_get(&labels->call_of, key);
    struct sg_slice_label label;
    enum sg_status status;

    if (found >= 0) {
        *out = &labels->calls[found];
        return SG_OK;
    }
    status = make_call_label(aggregate, call, &label);
    if (status != SG_OK)
        return status;
    if (!SG_APPEND(labels->calls, labels->call_count, label)) {
        free(label.name);
        free(label.site);
        return SG_ERR_MEMORY;
    }
    *out = &labels->calls[labels->call_count - 1];
    return sg_map_put(&labels->call_of, key, labels->call_count - 1);
}

enum sg_status sg_label_comm(struct sg_labels *labels, const struct sg_aggregate *aggregate,
                             uint32_t comm, const char **out)
{
    struct sg_report_site of = {0};

    if (!SG_EXTEND(labels->comms, labels->comm_room, comm))
        return SG_ERR_MEMORY;
    if (labels->comms[comm] == NULL) {
        sg_aggregate_name_comm(aggregate, comm, &of);
        labels->comms[comm] = sg_label_quote(of.comm);
    }
    *out = labels->comms[comm];
    return *out != NULL ? SG_OK : SG_ERR_MEMORY;
}

enum sg_status sg_label_algorithm(struct sg_labels *labels, const struct sg_aggregate *aggregate,
                                  uint32_t algorithm, const char **out)
{
    if (!SG_EXTEND(labels->algorithms, labels->algorithm_room, algorithm))
        return SG_ERR_MEMORY;
    if (labels->algorithms[algorithm] == NULL)
        labels->algorithms[algorithm] =
            sg_label_quote(sg_aggregate_algorithm_name(aggregate, algorithm));
    *out = labels->algorithms[algorithm];
    return *out != NULL ? SG_OK : SG_ERR_MEMORY;
}

void sg_labels_clear(struct sg_labels *labels)
{
    for (uint32_t row = 0; row < labels->row_room; row++) {
        free(labels->rows[row].name);
        free(labels->rows[row].late_name);
        free(labels->rows[row].comm);
        free(labels->rows[row].arguments);
    }
    for (uint32_t i = 0; i < labels->call_count; i++) {
        free(labels->calls[i].name);
        free(labels->calls[i].site);
    }
    for (uint32_t i = 0; i < labels->comm_room; i++)
        free(labels->comms[i]);
    for (uint32_t i = 0; i < labels->algorithm_room; i++)
        free(labels->algorithms[i]);
    free(labels->calls);
    sg_map_clear(&labels->call_of);
    free(labels->comms);
    free(labels->rows);
    free(labels->algorithms);
}
