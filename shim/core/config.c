/* Reading the configuration: the environment first, then the file for what is not set there.
 *
 * Rules of both add up, the environment's first. Whatever is wrong costs its own line or variable
 * and no more; a fault in the file names its line.
 */
#include "core/config.h"
#include "core/config_impl.h"
#include "core/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "STAGGER_"
#define SITE_PREFIX PREFIX "SITE_"
#define SITE_DIGITS 8
/* Longer names are compared and shown by their beginning. */
#define NAME_BYTES 60

const char *sg_config_environment(const char *name)
{
    return getenv(name);
}

void sg_config_complain(struct sg_config_reader *reader, const char *format, ...)
{
    char message[800];
    va_list arguments;

    if (!reader->speak || ++reader->complaints > SG_CONFIG_COMPLAINTS)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (reader->path != NULL)
        sg_log("%s:%d: %s", reader->path, reader->line, message);
    else
        sg_log("%s", message);
}

void sg_config_reader_end(struct sg_config_reader *reader)
{
    int hidden = reader->complaints - SG_CONFIG_COMPLAINTS;

    if (hidden > 0)
        sg_log("%d more faults in the configuration", hidden);
}

/* ---- names -----------------------------------------------------------------------------------*/

static int smallest(int a, int b, int c)
{
    int least = a < b ? a : b;

    return least < c ? least : c;
}

/* Levenshtein distance; both are at most NAME_BYTES long. */
static int edit_distance(const char *a, const char *b)
{
    int row[NAME_BYTES + 1];
    int width = (int)strlen(b);

    for (int j = 0; j <= width; j++)
        row[j] = j;
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int diagonal = row[0];

        row[0] = i;
        for (int j = 1; j <= width; j++) {
            int above = row[j];

            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[width];
}

static bool is_site_id(const char *text)
{
    return strspn(text, "0123456789abcdefABCDEF") == SITE_DIGITS && text[SITE_DIGITS] == '\0';
}

static void complain_unknown(struct sg_config_reader *reader, const char *name)
{
    char own[NAME_BYTES + 1];
    char excerpt[SG_EXCERPT_BYTES];
    const char *nearest = "";
    int nearest_distance = 2 * NAME_BYTES;
    size_t length;

    length = (size_t)snprintf(own, sizeof own, "%s", name);
    /* A misspelt SITE variable differs from the prefix by more than the misspelling. */
    if (length < sizeof own && length > SITE_DIGITS && is_site_id(own + length - SITE_DIGITS))
        own[length - SITE_DIGITS] = '\0';
    for (int i = 0; i < sg_config_entry_count; i++) {
        int distance = edit_distance(own, sg_config_entries[i].name);

        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = sg_config_entries[i].name;
        }
    }
    sg_config_complain(reader, "unknown variable %s is ignored; the nearest known name is %s%s",
                       sg_text_excerpt(name, strlen(name), excerpt, sizeof excerpt), nearest,
                       strcmp(nearest, SITE_PREFIX) == 0 ? "<id>" : "");
}

/* ---- values ----------------------------------------------------------------------------------*/

/* An id in lower case, so that one call site has one name. */
static void lower_site_name(const char *id, char name[sizeof SITE_PREFIX + SITE_DIGITS])
{
    char *out = stpcpy(name, SITE_PREFIX);

    for (; *id != '\0'; id++)
        *out++ = (char)tolower((unsigned char)*id);
    *out = '\0';
}

static void apply_site(struct sg_config_reader *reader, const char *name, const char *value)
{
    const char *id = name + strlen(SITE_PREFIX);
    const struct sg_config_rule *other;
    char site[sizeof SITE_PREFIX + SITE_DIGITS];
    char excerpt[SG_EXCERPT_BYTES];

    if (!is_site_id(id)) {
        sg_config_complain(reader, "%s is ignored: expected 8 hex digits behind " SITE_PREFIX,
                           sg_text_excerpt(name, strlen(name), excerpt, sizeof excerpt));
        return;
    }
    lower_site_name(id, site);
    other = sg_config_find_rule(reader->config, site);
    if (other == NULL)
        sg_config_add_rule(reader, SG_CONFIG_RULE_SITE, site, value);
    else if (reader->path == NULL || strcmp(other->source, other->name) != 0)
        sg_config_complain(reader, "%s is set twice; the first value stands", site);
}

static bool apply_value(struct sg_config_reader *reader, const struct sg_config_entry *entry,
                        const char *value)
{
    char excerpt[SG_EXCERPT_BYTES];
    enum sg_status status = entry->parse(value, entry, reader->config);

    if (status == SG_ERR_MEMORY)
        reader->status = status;
    else if (status != SG_OK)
        sg_config_complain(reader, "%s=%s is ignored: expected %s", entry->name,
                           sg_text_excerpt(value, strlen(value), excerpt, sizeof excerpt),
                           entry->expected);
    return status == SG_OK;
}

/* Tells whether a variable that can be set once may be set now. */
static bool may_set(struct sg_config_reader *reader, const struct sg_config_entry *entry,
                    uint32_t bit)
{
    const struct sg_config *config = reader->config;

    if (reader->path == NULL)
        return true;
    if (strcmp(entry->name, SG_CONFIG_FILE_VARIABLE) == 0) {
        sg_config_complain(reader, "%s is ignored: a configuration file names no other",
                           entry->name);
        return false;
    }
    if ((config->from_file & bit) != 0) {
        sg_config_complain(reader, "%s is set twice; the first value stands", entry->name);
        return false;
    }
    return (config->from_environment & bit) == 0;
}

void sg_config_apply(struct sg_config_reader *reader, const char *name, const char *value)
{
    const struct sg_config_entry *entry = sg_config_find(name);
    struct sg_config *config = reader->config;
    uint32_t bit;

    if (entry == NULL) {
        complain_unknown(reader, name);
        return;
    }
    if (*value == '\0')
        return;
    if (entry->rule == SG_CONFIG_RULE_SITE) {
        apply_site(reader, name, value);
        return;
    }
    bit = UINT32_C(1) << (entry - sg_config_entries);
    /* STAGGER_RULES adds up: the first match decides, and the environment's rules are first. */
    if (entry->rule != SG_CONFIG_RULE_RULES && !may_set(reader, entry, bit))
        return;
    if (entry->rule != SG_CONFIG_RULE_NONE)
        sg_config_add_rule(reader, entry->rule, name, value);
    else if (!apply_value(reader, entry, value))
        return;
    *(reader->path != NULL ? &config->from_file : &config->from_environment) |= bit;
}

/* ---- sources ---------------------------------------------------------------------------------*/

static void read_environment(struct sg_config_reader *reader)
{
    /* The table's order first, so that lines come in the same order on every machine. */
    for (int i = 0; i < sg_config_entry_count && reader->status == SG_OK; i++) {
        const char *value = getenv(sg_config_entries[i].name);

        if (value != NULL && sg_config_entries[i].rule != SG_CONFIG_RULE_SITE)
            sg_config_apply(reader, sg_config_entries[i].name, value);
    }
    for (char **at = environ; at != NULL && *at != NULL && reader->status == SG_OK; at++) {
        const char *value = strchr(*at, '=');
        const struct sg_config_entry *entry;
        char *name;

        if (value == NULL || strncmp(*at, PREFIX, strlen(PREFIX)) != 0)
            continue;
        name = strndup(*at, (size_t)(value - *at));
        if (name == NULL) {
            reader->status = SG_ERR_MEMORY;
            return;
        }
        entry = sg_config_find(name);
        if (entry == NULL || entry->rule == SG_CONFIG_RULE_SITE)
            sg_config_apply(reader, name, value + 1);
        free(name);
    }
}

/* The whole file with a NUL behind it, or NULL; *fault then says why, NULL where errno does. */
static char *read_file(const char *path, const char **fault, size_t *size_bytes)
{
    /* O_NONBLOCK: a FIFO must not hold up the program. */
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    size_t used = 0;
    ssize_t got = 1;
    struct stat info;

    *fault = NULL;
    if (file < 0)
        return NULL;
    if (fstat(file, &info) != 0)
        goto err_close;
    if (!S_ISREG(info.st_mode)) {
        *fault = "not a regular file";
        goto err_close;
    }
    text = malloc(SG_CONFIG_FILE_BYTES + 1);
    if (text == NULL)
        goto err_close;
    while (used <= SG_CONFIG_FILE_BYTES && got > 0) {
        got = read(file, text + used, SG_CONFIG_FILE_BYTES + 1 - used);
        if (got > 0)
            used += (size_t)got;
    }
    if (got < 0)
        goto err_free;
    if (used > SG_CONFIG_FILE_BYTES) {
        *fault = "larger than 1 MiB";
        goto err_free;
    }
    close(file);
    text[used] = '\0';
    *size_bytes = used;
    return text;

err_free:
    free(text);
err_close:
    close(file);
    return NULL;
}

static void read_config_file(struct sg_config_reader *reader, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    char excerpt[500];
    char source[SG_EXCERPT_BYTES];
    const char *fault;
    size_t size_bytes;
    char *text;

    sg_text_excerpt(path, strlen(path), excerpt, sizeof excerpt);
    text = read_file(path, &fault, &size_bytes);
    if (text != NULL && strlen(text) != size_bytes)
        fault = "not a text file";
    if (text == NULL && fault == NULL) {
        sg_config_complain(reader, SG_CONFIG_FILE_VARIABLE "=%s is ignored: %m", excerpt);
    } else if (fault != NULL) {
        sg_config_complain(reader, SG_CONFIG_FILE_VARIABLE "=%s is ignored: %s", excerpt, fault);
    } else {
        reader->path = sg_text_excerpt(base, strlen(base), source, sizeof source);
        sg_config_read_lines(reader, text);
        reader->path = NULL;
    }
    free(text);
}

enum sg_status sg_config_read(struct sg_config *out, bool speak)
{
    struct sg_config_reader reader = {.config = out, .speak = speak};

    reader.status = sg_config_defaults(out);
    if (reader.status != SG_OK)
        return reader.status;
    read_environment(&reader);
    if (reader.status == SG_OK && *out->config_file != '\0')
        read_config_file(&reader, out->config_file);
    sg_config_reader_end(&reader);
    if (reader.status != SG_OK)
        sg_config_clear(out);
    return reader.status;
}
