/* Reads and writes the configuration. The environment comes first, then the file for variables not
 * set there; rules of both are kept, the environment's first. A fault discards only its own line or
 * variable; its message names the line of the file.
 *
 * A configuration that is written and read again is the same (see "writing" below). */
#include "core/config.h"

#include "core/file.h"
#include "core/launch.h"
#include "core/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "STAGGER_"
#define MISSPELT_MAX 1 /* letters that are wrong, missing or too many */
#define SITE_PREFIX PREFIX "SITE_"
#define SITE_DIGITS 8
/* Longer names are compared and shown by their first bytes. */
#define NAME_BYTES SG_DISTANCE_BYTES

/* A larger file is no configuration, and more complaints do not help the user. */
#define FILE_BYTES (1 << 20)
#define RULES 4096
#define COMPLAINTS 20

/* State of reading one configuration. */
struct reader {
    struct sg_config *config;
    bool speak;
    int complaints;
    const char *path;      /* file being read; NULL: the environment */
    int line;              /* in that file */
    enum sg_status status; /* SG_ERR_MEMORY is the only status that ends the reading */
};

const char *sg_config_environment(const char *name)
{
    return getenv(name);
}

bool sg_config_set_environment(const char *name, const char *value)
{
    return (value == NULL ? unsetenv(name) : setenv(name, value, 1)) == 0;
}

/* Logs one line, "SOURCE: message", if the reader speaks; only the first COMPLAINTS of them. */
static __attribute__((format(printf, 2, 3))) void complain(struct reader *reader,
                                                           const char *format, ...)
{
    char message[800];
    va_list arguments;

    if (!reader->speak || ++reader->complaints > COMPLAINTS)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (reader->path != NULL)
        sg_log("%s:%d: %s", reader->path, reader->line, message);
    else
        sg_log("%s", message);
}

/* Reports how many complaints were not printed. */
static void say_rest(struct reader *reader)
{
    int hidden = reader->complaints - COMPLAINTS;

    if (hidden > 0)
        sg_log("%d more errors in the configuration", hidden);
}

/* ---- names -----------------------------------------------------------------------------------*/

static bool is_site_id(const char *text)
{
    return strspn(text, "0123456789abcdefABCDEF") == SITE_DIGITS && text[SITE_DIGITS] == '\0';
}

static void complain_unknown(struct reader *reader, const char *name)
{
    char own[NAME_BYTES + 1];
    char excerpt[SG_EXCERPT_BYTES];
    const char *nearest = "";
    int nearest_distance = 2 * NAME_BYTES;
    size_t length;

    length = (size_t)snprintf(own, sizeof own, "%s", name);
    /* A misspelt SITE variable ends in an id, which would dominate the distance. */
    if (length < sizeof own && length > SITE_DIGITS && is_site_id(own + length - SITE_DIGITS))
        own[length - SITE_DIGITS] = '\0';
    for (int i = 0; i < sg_config_entry_count; i++) {
        int distance = sg_text_distance(own, sg_config_entries[i].name);

        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = sg_config_entries[i].name;
        }
    }
    complain(reader, "unknown variable %s is ignored; the nearest known name is %s%s",
             sg_text_excerpt(name, strlen(name), excerpt, sizeof excerpt), nearest,
             strcmp(nearest, SITE_PREFIX) == 0 ? "<id>" : "");
}

/* Names a variable whose prefix is misspelt. Others may use such names, so that they must be close
 * to one of ours, and the first two letters must be right. */
static void complain_misspelt(struct reader *reader, const char *name)
{
    char excerpt[SG_EXCERPT_BYTES];

    for (int i = 0; i < sg_config_entry_count; i++) {
        const char *known = sg_config_entries[i].name;

        if (sg_text_distance(name, known) <= MISSPELT_MAX &&
            sg_config_entries[i].rule != SG_CONFIG_RULE_SITE) {
            complain(reader, "unknown variable %s has no effect; the nearest known name is %s",
                     sg_text_excerpt(name, strlen(name), excerpt, sizeof excerpt), known);
            return;
        }
    }
}

/* ---- rules -----------------------------------------------------------------------------------*/

/* Rules are kept in order of precedence: by kind, and within a kind in the order of reading. Call
 * sites are sorted by id: the environment's order differs between ranks and must not matter. */

/* Returns the rule of this name, or NULL. */
static const struct sg_config_rule *find_rule(const struct sg_config *config, const char *name)
{
    for (int i = 0; i < config->rule_count; i++) {
        if (strcmp(config->rules[i].name, name) == 0)
            return &config->rules[i];
    }
    return NULL;
}

/* "STAGGER_RULES", "stagger.conf:12" or "stagger.conf:12 STAGGER_RULES"; NULL: no memory. */
static char *source_text(const struct reader *reader, const char *name)
{
    char *source;

    if (reader->path == NULL)
        return strdup(name);
    if (asprintf(&source, "%s:%d%s%s", reader->path, reader->line, *name ? " " : "", name) < 0)
        return NULL;
    return source;
}

static bool stands_behind(const struct sg_config_rule *rule, const struct sg_config_rule *other)
{
    if (rule->kind != other->kind)
        return rule->kind > other->kind;
    return rule->kind != SG_CONFIG_RULE_SITE || strcmp(rule->name, other->name) > 0;
}

/* The array doubles when its count is a power of two, so no capacity is stored. */
static bool grow(struct sg_config *config)
{
    int count = config->rule_count;
    struct sg_config_rule *rules;

    if (count > 0 && (count & (count - 1)) != 0)
        return true;
    rules = realloc(config->rules, (count > 0 ? 2 * (size_t)count : 1) * sizeof *rules);
    if (rules == NULL)
        return false;
    config->rules = rules;
    return true;
}

/* Adds a rule after those of its precedence; copies the strings. */
static void add_rule(struct reader *reader, enum sg_config_rule_kind kind, const char *name,
                     const char *text)
{
    struct sg_config *config = reader->config;
    struct sg_config_rule rule = {.kind = kind};
    int at = config->rule_count;

    if (config->rule_count == RULES) {
        complain(reader, "more than %d rules; ignoring this one", RULES);
        return;
    }
    rule.name = strdup(name);
    rule.source = source_text(reader, name);
    rule.text = strdup(text);
    if (rule.name == NULL || rule.source == NULL || rule.text == NULL || !grow(config)) {
        sg_config_clear_rule(&rule);
        reader->status = SG_ERR_MEMORY;
        return;
    }
    while (at > 0 && !stands_behind(&rule, &config->rules[at - 1]))
        at--;
    memmove(&config->rules[at + 1], &config->rules[at],
            (size_t)(config->rule_count - at) * sizeof *config->rules);
    config->rules[at] = rule;
    config->rule_count++;
}

/* ---- values ----------------------------------------------------------------------------------*/

/* Spells an id in lower case, so that one call site has one name. */
static void lower_site_name(const char *id, char name[sizeof SITE_PREFIX + SITE_DIGITS])
{
    char *out = stpcpy(name, SITE_PREFIX);

    for (; *id != '\0'; id++)
        *out++ = (char)tolower((unsigned char)*id);
    *out = '\0';
}

static void apply_site(struct reader *reader, const char *name, const char *value)
{
    const char *id = name + strlen(SITE_PREFIX);
    const struct sg_config_rule *other;
    char site[sizeof SITE_PREFIX + SITE_DIGITS];
    char excerpt[SG_EXCERPT_BYTES];

    if (!is_site_id(id)) {
        complain(reader, "%s is ignored: expected 8 hex digits after " SITE_PREFIX,
                 sg_text_excerpt(name, strlen(name), excerpt, sizeof excerpt));
        return;
    }
    lower_site_name(id, site);
    other = find_rule(reader->config, site);
    if (other == NULL)
        add_rule(reader, SG_CONFIG_RULE_SITE, site, value);
    else if (reader->path == NULL || strcmp(other->source, other->name) != 0)
        complain(reader, "%s is set twice; the first value applies", site);
}

static bool apply_value(struct reader *reader, const struct sg_config_entry *entry,
                        const char *value)
{
    char excerpt[SG_EXCERPT_BYTES];
    enum sg_status status = entry->parse(value, entry, reader->config);

    if (status == SG_ERR_MEMORY)
        reader->status = status;
    else if (status != SG_OK)
        complain(reader, "%s=%s is ignored: expected %s", entry->name,
                 sg_text_excerpt(value, strlen(value), excerpt, sizeof excerpt), entry->expected);
    return status == SG_OK;
}

/* True if a variable that can be set once may be set now. */
static bool may_set(struct reader *reader, const struct sg_config_entry *entry, uint64_t bit)
{
    const struct sg_config *config = reader->config;

    if (reader->path == NULL)
        return true;
    if (strcmp(entry->name, SG_CONFIG_FILE_VARIABLE) == 0) {
        complain(reader, "%s is ignored: a configuration file cannot name another", entry->name);
        return false;
    }
    if ((config->from_file & bit) != 0) {
        complain(reader, "%s is set twice; the first value applies", entry->name);
        return false;
    }
    return (config->from_environment & bit) == 0;
}

/* Applies one variable: the environment's value, or the file's if the environment has none. */
static void apply(struct reader *reader, const char *name, const char *value)
{
    const struct sg_config_entry *entry = sg_config_find(name);
    struct sg_config *config = reader->config;
    uint64_t bit;

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
    bit = UINT64_C(1) << (entry - sg_config_entries);
    /* STAGGER_RULES accumulates: the first match decides, and the environment's rules come
     * first. */
    if (entry->rule != SG_CONFIG_RULE_RULES && !may_set(reader, entry, bit))
        return;
    if (entry->rule != SG_CONFIG_RULE_NONE)
        add_rule(reader, entry->rule, name, value);
    else if (!apply_value(reader, entry, value))
        return;
    *(reader->path != NULL ? &config->from_file : &config->from_environment) |= bit;
}

/* ---- lines of a file ----
 *
 * A value that would not survive as it is gets quotation marks, whatever bytes it holds. A rule
 * line needs none: it was a line of such a file before. */

static bool is_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\v' || byte == '\f';
}

static char *skip_blanks(char *text)
{
    while (is_blank(*text))
        text++;
    return text;
}

/* ---- reading lines -------------------------------------------------------------------------- */

/* Removes a comment and the blanks before it. */
static void cut_comment(char *line)
{
    char *end = line;

    for (char *at = line; *at != '\0'; at++) {
        if (*at == '#' && (at == line || is_blank(at[-1])))
            break;
        if (!is_blank(*at))
            end = at + 1;
    }
    *end = '\0';
}

static int hex_value(char digit)
{
    if (!isxdigit((unsigned char)digit))
        return -1;
    return digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
}

/* Returns the character for the escape at *at (after the backslash); 0: none. */
static char unescape(char **at)
{
    static const char names[] = "\\\"nrt";
    static const char values[] = "\\\"\n\r\t";
    const char *name = **at != '\0' ? strchr(names, **at) : NULL;
    int high, low;

    if (name != NULL) {
        (*at)++;
        return values[name - names];
    }
    if (**at != 'x' || (high = hex_value((*at)[1])) < 0 || (low = hex_value((*at)[2])) < 0)
        return 0;
    *at += 3;
    return (char)(high << 4 | low);
}

/* A fault in a value: the message's parts before and after the variable's name. */
struct fault {
    const char *before, *behind;
};

/* Decodes, in place, the quoted value at text (after the quotation mark). */
static struct fault read_quoted(char *text)
{
    char *out = text;
    char *at = text;

    while (*at != '"') {
        char byte = *at++;

        if (byte == '\0')
            return (struct fault){"the closing '\"' of ", " is missing"};
        if (byte == '\\' && (byte = unescape(&at)) == 0)
            return (struct fault){"expected \\\\, \\\", \\n, \\r, \\t or \\xHH in the value of ",
                                  ""};
        *out++ = byte;
    }
    at = skip_blanks(at + 1);
    *out = '\0';
    if (*at == '\0' || *at == '#')
        return (struct fault){0};
    return (struct fault){"expected the end of the line after the closing '\"' of ", ""};
}

static void read_variable(char *text, struct sg_config_line *line)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz0123456789");
    char *value = skip_blanks(text + length);
    struct fault fault = {0};

    if (*value != '=') {
        snprintf(line->fault, sizeof line->fault, "expected '=' after %.*s; ignoring the line",
                 length > 40 ? 40 : (int)length, text);
        return;
    }
    text[length] = '\0';
    value = skip_blanks(value + 1);
    if (*value != '"')
        cut_comment(value);
    else
        fault = read_quoted(++value);
    if (fault.before != NULL) {
        snprintf(line->fault, sizeof line->fault, "%s%s%s; ignoring the line", fault.before, text,
                 fault.behind);
        return;
    }
    line->name = text;
    line->value = value;
}

/* Cuts the next line out of *text, which advances and becomes NULL at the end. False: no more
 * lines. */
static bool next_line(char **text, struct sg_config_line *line)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    char *cut, *start;

    if (line->number == 0 && strncmp(*text, byte_order_mark, strlen(byte_order_mark)) == 0)
        *text += strlen(byte_order_mark);
    cut = strsep(text, "\n");
    if (cut == NULL)
        return false;
    *line = (struct sg_config_line){.number = line->number + 1};
    start = skip_blanks(cut);
    if (strncmp(start, "STAGGER_", strlen("STAGGER_")) == 0) {
        read_variable(start, line);
        return true;
    }
    cut_comment(cut);
    /* Keep leading blanks: columns in messages count them. */
    if (*skip_blanks(cut) != '\0')
        line->value = cut;
    return true;
}

/* ---- sources ---------------------------------------------------------------------------------*/

static void read_environment(struct reader *reader)
{
    /* The table's order first, so that messages come in the same order on every machine. */
    for (int i = 0; i < sg_config_entry_count && reader->status == SG_OK; i++) {
        const char *value = getenv(sg_config_entries[i].name);

        if (value != NULL && sg_config_entries[i].rule != SG_CONFIG_RULE_SITE)
            apply(reader, sg_config_entries[i].name, value);
    }
    for (char **at = environ; at != NULL && *at != NULL && reader->status == SG_OK; at++) {
        const char *value = strchr(*at, '=');
        bool is_ours = strncmp(*at, PREFIX, strlen(PREFIX)) == 0;
        const struct sg_config_entry *entry;
        char *name;

        if (value == NULL || strncmp(*at, PREFIX, 2) != 0 || (!is_ours && value - *at > NAME_BYTES))
            continue;
        name = strndup(*at, (size_t)(value - *at));
        if (name == NULL) {
            reader->status = SG_ERR_MEMORY;
            return;
        }
        entry = sg_config_find(name);
        if (!is_ours)
            complain_misspelt(reader, name);
        else if ((entry == NULL && strcmp(name, SG_LAUNCH_VARIABLE) != 0) ||
                 (entry != NULL && entry->rule == SG_CONFIG_RULE_SITE))
            apply(reader, name, value + 1);
        free(name);
    }
}

/* Reads the whole file and appends a NUL. NULL on failure: *fault says why, or is NULL if errno
 * does. */
static char *read_file(const char *path, const char **fault, size_t *size_bytes)
{
    char *text = NULL;
    size_t used = 0;
    ssize_t got = 1;
    int file, error = sg_file_open(path, 0, &file);

    *fault = error == SG_FILE_IRREGULAR ? "not a regular file" : NULL;
    errno = error;
    if (error != 0)
        return NULL;
    text = malloc(FILE_BYTES + 1);
    if (text == NULL)
        goto err_close;
    while (used <= FILE_BYTES && got > 0) {
        got = read(file, text + used, FILE_BYTES + 1 - used);
        if (got > 0)
            used += (size_t)got;
    }
    if (got < 0)
        goto err_free;
    if (used > FILE_BYTES) {
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

/* Modifies text: cuts it into pieces. */
static void read_lines(struct reader *reader, char *text)
{
    struct sg_config_line line = {0};

    while (reader->status == SG_OK && next_line(&text, &line)) {
        reader->line = line.number;
        if (*line.fault != '\0')
            complain(reader, "%s", line.fault);
        else if (line.name != NULL)
            apply(reader, line.name, line.value);
        else if (line.value != NULL)
            add_rule(reader, SG_CONFIG_RULE_FILE, "", line.value);
    }
}

static void read_config_file(struct reader *reader, const char *path)
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
        complain(reader, SG_CONFIG_FILE_VARIABLE "=%s is ignored: %m", excerpt);
    } else if (fault != NULL) {
        complain(reader, SG_CONFIG_FILE_VARIABLE "=%s is ignored: %s", excerpt, fault);
    } else {
        reader->path = sg_text_excerpt(base, strlen(base), source, sizeof source);
        read_lines(reader, text);
        reader->path = NULL;
    }
    free(text);
}

enum sg_status sg_config_read(struct sg_config *out, bool speak)
{
    struct reader reader = {.config = out, .speak = speak};

    reader.status = sg_config_defaults(out);
    if (reader.status != SG_OK)
        return reader.status;
    read_environment(&reader);
    if (reader.status == SG_OK && *out->config_file != '\0')
        read_config_file(&reader, out->config_file);
    say_rest(&reader);
    if (reader.status != SG_OK)
        sg_config_clear(out);
    return reader.status;
}

enum sg_status sg_config_parse(const char *text, struct sg_config *out)
{
    struct sg_config config;
    struct reader reader = {.config = &config, .path = "stagger.conf"};
    char *copy = strdup(text);

    if (copy == NULL)
        return SG_ERR_MEMORY;
    reader.status = sg_config_defaults(&config);
    if (reader.status == SG_OK)
        read_lines(&reader, copy);
    free(copy);
    if (reader.status != SG_OK) {
        sg_config_clear(&config);
        return reader.status;
    }
    *out = config;
    return SG_OK;
}

/* ---- writing ---------------------------------------------------------------------------------*/

static bool needs_quotes(const char *value)
{
    size_t length = strlen(value);

    if (length == 0)
        return false;
    if (value[0] == '"' || is_blank(value[0]) || is_blank(value[length - 1]))
        return true;
    for (; *value != '\0'; value++) {
        if ((unsigned char)*value < 0x20 || *value == 0x7f || *value == '#')
            return true;
    }
    return false;
}

static void write_value(FILE *out, const char *value)
{
    if (!needs_quotes(value)) {
        fputs(value, out);
        return;
    }
    putc('"', out);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            fprintf(out, "\\%c", *value);
        else if (*value == '\n')
            fputs("\\n", out);
        else if ((unsigned char)*value < 0x20 || *value == 0x7f)
            fprintf(out, "\\x%02x", (unsigned char)*value);
        else
            putc(*value, out);
    }
    putc('"', out);
}

static void write_config(FILE *out, const struct sg_config *config)
{
    char value[SG_CONFIG_VALUE_BYTES];

    fputs("# The configuration in force; STAGGER_CONFIG accepts this file.\n", out);
    for (int i = 0; i < sg_config_entry_count; i++) {
        const struct sg_config_entry *entry = &sg_config_entries[i];

        if (entry->print == NULL || strcmp(entry->name, SG_CONFIG_FILE_VARIABLE) == 0)
            continue;
        entry->print(entry, config, value, sizeof value);
        fprintf(out, "%s=", entry->name);
        write_value(out, value);
        putc('\n', out);
    }
    for (int i = 0; i < config->rule_count; i++) {
        const struct sg_config_rule *rule = &config->rules[i];

        if (rule->kind == SG_CONFIG_RULE_FILE) {
            fputs(rule->text, out);
        } else {
            fprintf(out, "%s=", rule->name);
            write_value(out, rule->text);
        }
        putc('\n', out);
    }
}

char *sg_config_text(const struct sg_config *config)
{
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);
    bool failed;

    if (out == NULL)
        return NULL;
    write_config(out, config);
    failed = ferror(out);
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}
