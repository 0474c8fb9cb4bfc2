/* A configuration that is written and read again is the same, whatever bytes its values hold: a
 * value that would not survive as it is gets quotation marks. A rule line needs none, because it
 * was a line of such a file before.
 */
#include "core/config_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- reading ---------------------------------------------------------------------------------*/

/* Cuts off a comment and the blanks before it. */
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

/* The character that stands for the escape at *at (behind the backslash); 0: none. */
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

/* What is wrong with a value: it stands before and behind the variable's name. */
struct fault {
    const char *before, *behind;
};

/* Turns the quoted value at text (behind the quotation mark) into its bytes, in place. */
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
    return (struct fault){"expected the end of the line behind the closing '\"' of ", ""};
}

static void read_variable(char *text, struct sg_config_line *line)
{
    size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz0123456789");
    char *value = skip_blanks(text + length);
    struct fault fault = {0};

    if (*value != '=') {
        snprintf(line->fault, sizeof line->fault, "expected '=' behind %.*s; the line is left out",
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
        snprintf(line->fault, sizeof line->fault, "%s%s%s; the line is left out", fault.before,
                 text, fault.behind);
        return;
    }
    line->name = text;
    line->value = value;
}

bool sg_config_next_line(char **text, struct sg_config_line *line)
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
    /* Leading blanks stay: columns in messages count them. */
    if (*skip_blanks(cut) != '\0')
        line->value = cut;
    return true;
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
