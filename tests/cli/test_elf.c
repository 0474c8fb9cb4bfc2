/* Tests elf.c. The test includes the source, because the archive of parts holds no commands. */
#include "../../analysis/cli/elf.c"
#include "lib/unit.h"

#include <elf.h>

/* ---- made-up programs ------------------------------------------------------------------------*/

static const char *path_of(const char *name)
{
    static char path[200];

    snprintf(path, sizeof path, "%s/%s", unit_directory(), name);
    return path;
}

static const char *write_program(const char *name, const void *content, size_t size_bytes)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "w");

    if (file == NULL || fwrite(content, 1, size_bytes, file) != size_bytes || fclose(file) != 0 ||
        chmod(path, 0755) != 0) {
        perror(path);
        exit(1);
    }
    return path;
}

struct image {
    Elf64_Ehdr header;
    Elf64_Phdr segments[2];
};

static struct image image_of(uint16_t type, uint32_t second_segment)
{
    struct image image = {
        .header = {.e_type = type,
                   .e_machine = EM_X86_64,
                   .e_version = EV_CURRENT,
                   .e_phoff = offsetof(struct image, segments),
                   .e_ehsize = sizeof image.header,
                   .e_phentsize = sizeof image.segments[0],
                   .e_phnum = 2},
        .segments = {{.p_type = PT_LOAD}, {.p_type = second_segment}},
    };

    memcpy(image.header.e_ident, ELFMAG, SELFMAG);
    image.header.e_ident[EI_CLASS] = ELFCLASS64;
    image.header.e_ident[EI_DATA] = ELFDATA2LSB;
    image.header.e_ident[EI_VERSION] = EV_CURRENT;
    return image;
}

static const char *write_image(const char *name, uint16_t type, uint32_t second_segment)
{
    struct image image = image_of(type, second_segment);

    return write_program(name, &image, sizeof image);
}

/* ---- one file --------------------------------------------------------------------------------*/

TEST("dynamic and static programs are distinguished")
{
    EXPECT(sg_elf_inspect(write_image("a", ET_EXEC, PT_INTERP)) == SG_ELF_DYNAMIC,
           sg_elf_inspect(write_image("a", ET_DYN, PT_INTERP)) == SG_ELF_DYNAMIC,
           sg_elf_inspect(write_image("a", ET_EXEC, PT_NOTE)) == SG_ELF_STATIC,
           sg_elf_inspect(write_image("a", ET_DYN, PT_DYNAMIC)) == SG_ELF_STATIC,
           sg_elf_inspect(write_image("a", ET_REL, PT_NOTE)) == SG_ELF_OTHER,
           sg_elf_inspect("/proc/self/exe") == SG_ELF_DYNAMIC);
}

TEST("scripts, directories and devices are of unknown kind")
{
    EXPECT(sg_elf_inspect(write_program("s", "#!/bin/sh\n", 10)) == SG_ELF_OTHER,
           sg_elf_inspect(write_program("s", "", 0)) == SG_ELF_OTHER,
           sg_elf_inspect(write_program("s", ELFMAG, SELFMAG)) == SG_ELF_OTHER,
           sg_elf_inspect("/nonexistent") == SG_ELF_OTHER, sg_elf_inspect("/") == SG_ELF_OTHER,
           sg_elf_inspect("/dev/zero") == SG_ELF_OTHER);
}

TEST("damaged programs are inspected safely")
{
    unsigned seed = 4;

    for (int round = 0; round < 500; round++) {
        struct image image = image_of(ET_EXEC, PT_INTERP);
        unsigned char *bytes = (unsigned char *)&image;

        for (int i = 1 + rand_r(&seed) % 6; i > 0; i--)
            bytes[EI_NIDENT + (size_t)rand_r(&seed) % (sizeof image - EI_NIDENT)] =
                (unsigned char)rand_r(&seed);
        enum sg_elf_kind kind = sg_elf_inspect(
            write_program("d", &image, 16 + (size_t)rand_r(&seed) % (sizeof image - 15)));
        ASSERT(kind == SG_ELF_OTHER || kind == SG_ELF_DYNAMIC || kind == SG_ELF_STATIC);
    }
}

TEST("a program that runs as another user is privileged")
{
    const char *path = write_image("p", ET_DYN, PT_INTERP);

    ASSERT(chmod(path, 04755) == 0);
    EXPECT(sg_elf_inspect(path) == SG_ELF_DYNAMIC);
    /* Only root can make a program that runs as another user. */
    if (getuid() != 0 || chown(path, 1, 1) != 0)
        return;
    EXPECT(chmod(path, 04755) == 0, sg_elf_inspect(path) == SG_ELF_PRIVILEGED,
           chmod(path, 02755) == 0, sg_elf_inspect(path) == SG_ELF_PRIVILEGED,
           chmod(path, 02744) == 0, sg_elf_inspect(path) == SG_ELF_DYNAMIC, chmod(path, 0755) == 0,
           sg_elf_inspect(path) == SG_ELF_DYNAMIC);
}

/* ---- command lines ---------------------------------------------------------------------------*/

static void note(void *context, const char *program, enum sg_elf_kind kind)
{
    char *list = context;

    EXPECT(kind == SG_ELF_STATIC);
    strcat(list, sg_locate_base(program));
    strcat(list, " ");
}

/* The programs found in a line of words, where ./ is the test's directory. PATH is it too. */
static const char *found_in(const char *line)
{
    static char list[200];
    char *words[30];
    char *copy = strdup(line);
    int count = 0;

    list[0] = '\0';
    for (char *at = copy, *word; (word = strsep(&at, " ")) != NULL;)
        words[count++] = word;
    words[count] = NULL;
    sg_elf_scan(words, note, list);
    free(copy);
    return list;
}

TEST("the programs of a command line are found behind launchers")
{
    write_image("still", ET_EXEC, PT_NOTE);
    write_image("other", ET_EXEC, PT_NOTE);
    write_image("moving", ET_DYN, PT_INTERP);
    write_image("mpiexec.mpich", ET_EXEC, PT_NOTE);
    write_image("env", ET_DYN, PT_INTERP);
    write_image("ssh", ET_DYN, PT_INTERP);
    ASSERT(chdir(unit_directory()) == 0);
    setenv("PATH", unit_directory(), 1);

    EXPECT(text_is(found_in("./still"), "still "), text_is(found_in("still a b"), "still "),
           text_is(found_in("./moving ./still"), ""), text_is(found_in("./missing ./still"), ""),
           text_is(found_in("mpiexec.mpich -n 2 ./still still"), "still "),
           text_is(found_in("mpiexec.mpich -n 2 still"), "still "),
           text_is(found_in("mpiexec.mpich -n 2 ./moving ./still"), ""),
           text_is(found_in("mpiexec.mpich -launcher ssh -n 2 ./still"), "still "),
           text_is(found_in("mpiexec.mpich -n 2 env A=1 ./still ./other"), "still "),
           text_is(found_in("mpiexec.mpich -n 1 -- still"), "still "),
           text_is(found_in("mpiexec.mpich -n 1 ./still : -n 1 ./other"), "still other "),
           text_is(found_in("mpiexec.mpich -n 1 ./moving x : -n 1 ./other"), "other "),
           text_is(found_in("mpiexec.mpich -n 2"), ""));
}

/* Programs are found where execvp looks. */
TEST("programs are found as execvp finds them")
{
    char both[500];

    write_program("here", "#!/bin/sh\n", 10);
    ASSERT(chdir(unit_directory()) == 0);
    snprintf(both, sizeof both, "/nonexistent::%s", unit_directory());
    setenv("PATH", both, 1);
    char *path = sg_locate_program("here");
    ASSERT(path != NULL);
    EXPECT(text_is(path, "here")); /* the empty element */
    free(path);
    setenv("PATH", unit_directory(), 1);
    path = sg_locate_program("here");
    ASSERT(path != NULL);
    EXPECT(text_is(path, path_of("here")));
    free(path);
    EXPECT(sg_locate_program("") == NULL, sg_locate_program(".") == NULL,
           sg_locate_program("nowhere") == NULL, chmod(path_of("here"), 0644) == 0,
           sg_locate_program("./here") == NULL);
}
