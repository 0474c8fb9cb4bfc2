#include "report/log_names.h"

#include "core/hash.h"
#include "core/room.h"
#include "core/text.h"
#include "trace/export/callers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sg_log_name {
    char *text; /* "function\0file\0" */
    const char *function, *file;
    uint32_t line;
};

/* text: "function\0file\0", malloc'ed and taken over. */
static enum sg_status keep(struct sg_log_names *names, uint32_t id, char *text, size_t text_bytes,
                           uint32_t line)
{
    struct sg_log_name name = {.text = text, .line = line};

    if (text == NULL)
        return SG_ERR_MEMORY;
    name.function = text;
    name.file = sg_logread_part(text, (uint32_t)text_bytes, 1);
    if (!SG_APPEND(names->names, names->name_count, name)) {
        free(text);
        return SG_ERR_MEMORY;
    }
    return sg_map_put(&names->name_by_id, id, names->name_count - 1);
}

enum sg_status sg_log_names_take(struct sg_log_names *names, struct sg_logread *log,
                                 const struct sg_record_site_name *record)
{
    if (sg_map_get(&names->name_by_id, record->id) >= 0)
        return SG_OK;
    return keep(names, record->id, sg_logread_text(log, record, record->text_bytes),
                record->text_bytes, record->line);
}

/* Symbols cost more than all the rest, and every rank has the site: each is asked for once. */
static enum sg_status note_try(struct sg_log_names *names, uint32_t id, const char *module,
                               bool *is_first)
{
    uint64_t key = sg_hash_mix(sg_hash_bytes(SG_HASH_START, module, strlen(module)) + id);

    *is_first = sg_map_get(&names->tried, key) < 0;
    return *is_first ? sg_map_put(&names->tried, key, 0) : SG_OK;
}

/* What symbols tell is kept, too, for whoever reads the logs again. */
static enum sg_status keep_found(struct sg_log_names *names, const struct sg_site_text *found)
{
    const char *file = found->file != NULL ? found->file : "";
    size_t text_bytes = strlen(found->function) + strlen(file) + 2;
    char *text = malloc(text_bytes + 1);

    if (text != NULL)
        snprintf(text, text_bytes + 1, "%s%c%s", found->function, '\0', file);
    return keep(names, found->id, text, text_bytes, found->line);
}

/* text: of the record. */
static void look_up(struct sg_log_names *names, const struct sg_record_site *record,
                    const char *text, struct sg_site_text *out)
{
    const char *build_id = sg_logread_part(text, record->text_bytes, 1);
    const char *callers = sg_logread_part(text, record->text_bytes, 2);
    struct sg_symbol symbol = {0};

    if (text[0] == '\0' || (names->symbols == NULL && sg_symbols_open(&names->symbols) != SG_OK))
        return;
    /* If the module is gone, module+offset is all that is known. */
    if (sg_symbols_lookup(names->symbols, text, build_id, record->offset, &symbol) == SG_OK) {
        out->function = sg_callers_name(names->symbols, text, &symbol, record->offset, callers);
        out->file = symbol.file;
        out->line = symbol.line;
    }
}

enum sg_status sg_log_names_site(struct sg_log_names *names, struct sg_logread *log,
                                 const struct sg_record_site *record,
                                 struct sg_aggregate *aggregate, uint32_t *out)
{
    struct sg_site_text text = {.id = record->id, .offset = record->offset};
    int64_t name = sg_map_get(&names->name_by_id, record->id);
    enum sg_status status;
    bool is_first = false;
    char *module;

    if (sg_aggregate_knows_site(aggregate, record->id, out))
        return SG_OK;
    module = sg_logread_text(log, record, record->text_bytes);
    if (module == NULL)
        return SG_ERR_MEMORY;
    text.module = sg_text_base_name(module);
    if (name >= 0) {
        text.function = names->names[name].function;
        text.file = names->names[name].file;
        text.line = names->names[name].line;
    } else if (note_try(names, record->id, module, &is_first) != SG_OK) {
        free(module);
        return SG_ERR_MEMORY;
    }
    if (is_first)
        look_up(names, record, module, &text);
    status = sg_aggregate_site(aggregate, &text, out);
    if (status == SG_OK && is_first && text.function != NULL)
        status = keep_found(names, &text);
    free(module);
    return status;
}

void sg_log_names_clear(struct sg_log_names *names)
{
    for (uint32_t i = 0; i < names->name_count; i++)
        free(names->names[i].text);
    free(names->names);
    sg_map_clear(&names->name_by_id);
    sg_map_clear(&names->tried);
    if (names->symbols != NULL)
        sg_symbols_close(names->symbols);
    *names = (struct sg_log_names){0};
}
