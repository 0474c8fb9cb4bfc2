#include "trace/export/callers.h"

#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 16
#define SEPARATOR " > "

/* One line of the text: "OFFSET BUILD-ID MODULE". */
struct frame {
    uint64_t offset;
    const char *build_id; /* "": any */
    const char *module;
};

/* False: no line, or none that is whole. *at goes behind it. */
static bool take_frame(char **at, const char *module, struct frame *frame)
{
    char *line = strsep(at, "\n");
    char *build_id = line != NULL ? strchr(line, ' ') : NULL;
    char *path = build_id != NULL ? strchr(build_id + 1, ' ') : NULL;

    if (path == NULL)
        return false;
    *build_id++ = '\0';
    *path++ = '\0';
    frame->offset = strtoull(line, NULL, 16);
    frame->build_id = build_id;
    frame->module = *path != '\0' ? path : module;
    return true;
}

static void print_place(FILE *out, const char *module, uint64_t offset,
                        const struct sg_symbol *symbol)
{
    if (symbol->function == NULL && symbol->file == NULL)
        fprintf(out, "%s+0x%" PRIx64, sg_text_base_name(module), offset);
    if (symbol->function != NULL)
        fputs(symbol->function, out);
    if (symbol->file != NULL)
        fprintf(out, "%s%s:%" PRIu32, symbol->function != NULL ? " " : "",
                sg_text_base_name(symbol->file), symbol->line);
}

/* What calls main is nobody's. */
static bool is_main(const struct sg_symbol *symbol)
{
    return symbol->function != NULL && strcmp(symbol->function, "main") == 0;
}

static void print_path(FILE *out, struct sg_symbols *symbols, const char *module,
                       const struct sg_symbol *own, uint64_t own_offset, char *callers)
{
    struct sg_symbol symbol[FRAMES_MAX];
    struct frame frame[FRAMES_MAX];
    int count = 0;
    bool ends = is_main(own);

    while (!ends && count < FRAMES_MAX && take_frame(&callers, module, &frame[count])) {
        sg_symbols_lookup(symbols, frame[count].module, frame[count].build_id, frame[count].offset,
                          &symbol[count]);
        ends = is_main(&symbol[count]);
        count++;
    }
    while (count-- > 0) {
        print_place(out, frame[count].module, frame[count].offset, &symbol[count]);
        fputs(SEPARATOR, out);
    }
    if (own->function != NULL)
        fputs(own->function, out);
    else
        fprintf(out, "%s+0x%" PRIx64, sg_text_base_name(module), own_offset);
}

const char *sg_callers_name(struct sg_symbols *symbols, const char *module,
                            const struct sg_symbol *symbol, uint64_t offset, const char *callers)
{
    char *copy, *text = NULL;
    const char *name = NULL;
    size_t size_bytes;
    FILE *out;

    if (callers[0] == '\0')
        return symbol->function;
    copy = strdup(callers);
    out = open_memstream(&text, &size_bytes);
    if (copy != NULL && out != NULL)
        print_path(out, symbols, module, symbol, offset, copy);
    if (out != NULL && fclose(out) == 0)
        name = sg_symbols_keep(symbols, text);
    free(text);
    free(copy);
    return name;
}

/* ---- reading a name -------------------------------------------------------------------------- */

/* Without the place of the call, " FILE:LINE", which frames of functions with sources have. */
static size_t without_place(const char *frame, size_t length)
{
    size_t at = length;

    while (at > 0 && frame[at - 1] >= '0' && frame[at - 1] <= '9')
        at--;
    if (at == length || at == 0 || frame[at - 1] != ':')
        return length;
    while (at > 0 && frame[at - 1] != ' ')
        at--;
    return at > 1 ? at - 1 : length;
}

bool sg_callers_next(const char **at, struct sg_callers_frame *frame)
{
    const char *end = *at != NULL ? strstr(*at, SEPARATOR) : NULL;

    if (*at == NULL)
        return false;
    frame->function = *at;
    frame->length = end != NULL ? without_place(*at, (size_t)(end - *at)) : strlen(*at);
    *at = end != NULL ? end + strlen(SEPARATOR) : NULL;
    return true;
}

bool sg_callers_are_named(const char *name)
{
    return strstr(name, SEPARATOR) != NULL;
}
