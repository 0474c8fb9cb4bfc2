/* settings_page: prints VARIABLES of docs/libstagger.7 from the configuration table, as troff.
 * `make manual` writes the page with it, and manuals.sh compares the page with it. */
#include "core/waiting.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define LINE_COLUMNS 115

/* Prints the bytes of a text, escaped; toggles *bold at each `. */
static void print_bytes(const char *text, int length, bool *bold)
{
    for (int i = 0; i < length; i++) {
        if (text[i] == '`') {
            fputs(*bold ? "\\fP" : "\\fB", stdout);
            *bold = !*bold;
        } else if (text[i] == '-' && (*bold || isdigit((unsigned char)text[i + 1]))) {
            fputs("\\-", stdout);
        } else {
            putchar(text[i]);
        }
    }
}

/* Prints words from the given column on, in lines of at most LINE_COLUMNS. Returns the column. */
static int print_words(const char *text, int column, bool *bold)
{
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");

        if (column > 0 && column + 1 + length > LINE_COLUMNS) {
            putchar('\n');
            column = 0;
        } else if (column > 0) {
            putchar(' ');
            column++;
        }
        if (column == 0 && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        print_bytes(text, length, bold);
        column += length;
        text += length + (text[length] == ' ');
    }
    return column;
}

/* Prints a name as on a manual page, with its values: the words, or what stands for the value. */
static void print_tag(const struct sg_config_entry *entry)
{
    bool is_prefix = entry->name[strlen(entry->name) - 1] == '_';

    printf(".TP\n.%s %s", entry->placeholder != NULL ? "BI" : "B", entry->name);
    if (is_prefix)
        fputs(" ID ", stdout);
    putchar('=');
    if (entry->placeholder != NULL) {
        bool bold = true;

        putchar(' ');
        print_bytes(entry->placeholder, (int)strlen(entry->placeholder), &bold);
    } else {
        for (int i = 0; entry->words[i] != NULL; i++)
            printf("%s%s", i > 0 ? "|" : "", entry->words[i]);
    }
    putchar('\n');
}

static void print_entry(const struct sg_config_entry *entry)
{
    bool bold = false;
    int column;

    if (entry->heading != NULL)
        printf(".SS %s\n", entry->heading);
    print_tag(entry);
    column = print_words(entry->summary, 0, &bold);
    if (entry->details != NULL)
        column = print_words(entry->details, column, &bold);
    if (entry->expected != NULL && entry->words == NULL) {
        column = print_words("Value:", column, &bold);
        column = print_words(entry->expected, column, &bold);
        fputs(*entry->default_text != '\0' ? ";" : ".", stdout);
    }
    if (*entry->default_text != '\0') {
        char text[64];

        snprintf(text, sizeof text, "%s `%s`.",
                 entry->words == NULL ? "default:" : "Default:", entry->default_text);
        print_words(text, column, &bold);
    }
    putchar('\n');
}

int main(void)
{
    for (int i = 0; i < sg_config_entry_count; i++)
        print_entry(&sg_config_entries[i]);
    return 0;
}
