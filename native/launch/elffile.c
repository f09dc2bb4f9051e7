/* SPDX-License-Identifier: Apache-2.0 */
/* Elf: files are read with pread into bounded buffers; a mapping would be a SIGBUS when somebody
 * truncates the file. */
#include "elffile.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel refuses more than 64 KiB of program headers; sections beyond these bounds are not
 * looked at. */
#define PROGRAM_HEADERS (65536 / sizeof(ElfW(Phdr)))
#define SECTION_HEADERS 4096
#define NAME_BYTES 65536
#define NOTE_BYTES 65536
#define DYNAMIC_ENTRIES 512
#define SEARCH_BYTES (64UL << 20)
#define SEARCH_STEP 65536

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OUR_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define OUR_MACHINE EM_PPC64
#elif defined(__i386__)
#define OUR_MACHINE EM_386
#elif defined(__arm__)
#define OUR_MACHINE EM_ARM
#else
#error "which ELF machine is this?"
#endif
#define OUR_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define OUR_DATA (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

/* Read all of [offset, offset + size), or -EBADMSG. An offset too large for off_t is outside the
 * file as well. */
static int read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
    size_t done = 0;

    if (offset > INT64_MAX - size)
        return -EBADMSG;
    while (done < size) {
        ssize_t got = pread(fd, (char *)buffer + done, size - done, (off_t)(offset + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            return -EBADMSG;
        done += (size_t)got;
    }
    return 0;
}

static int read_header(int fd, ElfW(Ehdr) * header, bool *foreign)
{
    int rc = read_at(fd, header->e_ident, EI_NIDENT, 0);

    *foreign = false;
    if (rc == -EBADMSG || (rc == 0 && memcmp(header->e_ident, ELFMAG, SELFMAG) != 0))
        return -ENOEXEC;
    if (rc)
        return rc;
    if (header->e_ident[EI_CLASS] != OUR_CLASS || header->e_ident[EI_DATA] != OUR_DATA) {
        *foreign = true;
        return 0;
    }
    rc = read_at(fd, header, sizeof(*header), 0);
    if (rc == 0 && header->e_machine != OUR_MACHINE)
        *foreign = true;
    return rc;
}

/* The program headers in memory of the caller's to free; NULL with *rc set. */
static ElfW(Phdr) * read_segments(int fd, const ElfW(Ehdr) * header, int *rc)
{
    ElfW(Phdr) *segments = NULL;

    *rc = -EBADMSG;
    if (header->e_phentsize != sizeof(*segments) || header->e_phnum == 0 ||
        header->e_phnum > PROGRAM_HEADERS)
        return NULL;
    segments = calloc(header->e_phnum, sizeof(*segments));
    *rc = segments ? read_at(fd, segments, header->e_phnum * sizeof(*segments), header->e_phoff)
                   : -ENOMEM;
    if (*rc) {
        free(segments);
        segments = NULL;
    }
    return segments;
}

static int read_interpreter(int fd, const ElfW(Phdr) * segment, char *path)
{
    size_t size = segment->p_filesz;
    int rc;

    if (size < 2 || size > PATH_MAX)
        return -EBADMSG;
    rc = read_at(fd, path, size, segment->p_offset);
    if (rc == 0 && path[size - 1] != '\0')
        rc = -EBADMSG;
    if (rc)
        path[0] = '\0';
    return rc;
}

/* Go's linker writes its build ID into a note whose owner is "Go". */
static bool has_go_note(int fd, const ElfW(Phdr) * segment)
{
    size_t size = segment->p_filesz, at = 0;
    bool found = false;
    char *notes;

    if (size > NOTE_BYTES)
        return false;
    notes = malloc(size ? size : 1);
    if (!notes)
        return false;
    if (read_at(fd, notes, size, segment->p_offset) == 0) {
        while (!found && size - at >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;
            size_t name, text;

            memcpy(&note, notes + at, sizeof(note));
            at += sizeof(note);
            name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
            text = ((size_t)note.n_descsz + 3) & ~(size_t)3;
            found = note.n_namesz >= 3 && name <= size - at && memcmp(notes + at, "Go", 3) == 0;
            if (name > size - at || text > size - at - name)
                break;
            at += name + text;
        }
    }
    free(notes);
    return found;
}

/* Other linkers write no such note, but the section with the module list is there unless it was
 * stripped. */
static bool has_go_section(int fd, const ElfW(Ehdr) * header)
{
    ElfW(Shdr) *sections = NULL, *strings;
    char *names = NULL;
    bool found = false;

    if (header->e_shentsize != sizeof(*sections) || header->e_shnum > SECTION_HEADERS ||
        header->e_shstrndx >= header->e_shnum)
        return false;
    sections = calloc(header->e_shnum, sizeof(*sections));
    if (!sections || read_at(fd, sections, header->e_shnum * sizeof(*sections), header->e_shoff))
        goto out;
    strings = &sections[header->e_shstrndx];
    if (strings->sh_size == 0 || strings->sh_size > NAME_BYTES)
        goto out;
    names = malloc(strings->sh_size);
    if (!names || read_at(fd, names, strings->sh_size, strings->sh_offset))
        goto out;
    names[strings->sh_size - 1] = '\0';
    for (unsigned i = 0; i < header->e_shnum && !found; i++)
        found = sections[i].sh_name < strings->sh_size &&
                strcmp(names + sections[i].sh_name, ".go.buildinfo") == 0;
out:
    free(names);
    free(sections);
    return found;
}

/* Search one range, keeping the end of each step before the next one so that no match is cut in
 * two. */
static int search_range(int fd, uint64_t offset, uint64_t size, const char *const *strings,
                        bool *found, unsigned count, char *buffer)
{
    size_t kept = 0;

    while (size) {
        size_t step = size < SEARCH_STEP ? (size_t)size : SEARCH_STEP;
        size_t longest = 0;
        int rc = read_at(fd, buffer + kept, step, offset);

        if (rc)
            return rc;
        kept += step;
        for (unsigned i = 0; i < count; i++) {
            size_t length = strlen(strings[i]);

            longest = length > longest ? length : longest;
            found[i] = found[i] || memmem(buffer, kept, strings[i], length);
        }
        offset += step;
        size -= step;
        if (kept > longest) {
            memmove(buffer, buffer + kept - longest, longest);
            kept = longest;
        }
    }
    return 0;
}

/* Where a range of the loaded program is in the file. False: no segment holds all of it. */
static bool find_in_file(const ElfW(Phdr) * segments, size_t count, uint64_t address, uint64_t size,
                         uint64_t *offset)
{
    for (size_t i = 0; i < count; i++) {
        const ElfW(Phdr) *segment = &segments[i];

        if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
            address - segment->p_vaddr > segment->p_filesz ||
            size > segment->p_filesz - (address - segment->p_vaddr))
            continue;
        *offset = segment->p_offset + (address - segment->p_vaddr);
        return true;
    }
    return false;
}

/* A program with a sanitizer's runtime has that runtime's first function among its dynamic symbols:
 * it needs it from a library, or exports it so that libraries find it. */
static const char *find_sanitizer(int fd, const ElfW(Phdr) * segments, size_t count,
                                  const ElfW(Phdr) * dynamic)
{
    static const char *const marks[] = {"__asan_init", "__hwasan_init", "__tsan_init",
                                        "__msan_init"};
    static const char *const names[] = {"AddressSanitizer", "HWAddressSanitizer", "ThreadSanitizer",
                                        "MemorySanitizer"};
    ElfW(Dyn) entries[DYNAMIC_ENTRIES];
    size_t entry_count = dynamic->p_filesz / sizeof(*entries);
    uint64_t address = 0, size = 0, offset;
    const char *name = NULL;
    bool found[4] = {false};
    char *buffer;

    entry_count = entry_count < DYNAMIC_ENTRIES ? entry_count : DYNAMIC_ENTRIES;
    if (read_at(fd, entries, entry_count * sizeof(*entries), dynamic->p_offset))
        return NULL;
    for (size_t i = 0; i < entry_count && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_STRTAB)
            address = entries[i].d_un.d_ptr;
        else if (entries[i].d_tag == DT_STRSZ)
            size = entries[i].d_un.d_val;
    }
    if (size > SEARCH_BYTES || !find_in_file(segments, count, address, size, &offset))
        return NULL;
    buffer = malloc(2 * SEARCH_STEP);
    if (buffer && search_range(fd, offset, size, marks, found, 4, buffer) == 0) {
        for (size_t i = 0; i < 4 && !name; i++)
            name = found[i] ? names[i] : NULL;
    }
    free(buffer);
    return name;
}

int okosu_elf_read(int fd, struct okosu_elf *elf)
{
    ElfW(Ehdr) header = {0};
    ElfW(Phdr) * segments;
    int rc;

    *elf = (struct okosu_elf){0};
    rc = read_header(fd, &header, &elf->foreign);
    if (rc || elf->foreign)
        return rc;
    segments = read_segments(fd, &header, &rc);
    if (!segments)
        return rc;
    for (unsigned i = 0; i < header.e_phnum && rc == 0; i++) {
        if (segments[i].p_type == PT_INTERP && !elf->interpreter[0])
            rc = read_interpreter(fd, &segments[i], elf->interpreter);
        else if (segments[i].p_type == PT_NOTE && !elf->go)
            elf->go = has_go_note(fd, &segments[i]);
        else if (segments[i].p_type == PT_DYNAMIC && !elf->sanitizer)
            elf->sanitizer = find_sanitizer(fd, segments, header.e_phnum, &segments[i]);
    }
    if (rc == 0 && !elf->go)
        elf->go = has_go_section(fd, &header);
    free(segments);
    return rc;
}

int okosu_elf_search(int fd, const char *const *strings, bool *found, unsigned count)
{
    ElfW(Ehdr) header = {0};
    ElfW(Phdr) *segments = NULL;
    uint64_t left = SEARCH_BYTES;
    char *buffer = NULL;
    bool foreign;
    int rc;

    memset(found, 0, count * sizeof(*found));
    rc = read_header(fd, &header, &foreign);
    if (rc || foreign)
        return rc ? rc : -ENOEXEC;
    segments = read_segments(fd, &header, &rc);
    buffer = malloc(2 * SEARCH_STEP);
    if (!segments || !buffer) {
        rc = rc ? rc : -ENOMEM;
        goto out;
    }
    for (unsigned i = 0; i < header.e_phnum && rc == 0; i++) {
        uint64_t size = segments[i].p_filesz;

        if (segments[i].p_type != PT_LOAD)
            continue;
        size = size < left ? size : left;
        left -= size;
        rc = search_range(fd, segments[i].p_offset, size, strings, found, count, buffer);
    }
out:
    free(buffer);
    free(segments);
    return rc;
}

/* A program that the kernel may load at any page, unlike a library: ld.so maps that as a file, which
 * the kernel aligns to huge pages by itself where it is large enough. */
static bool is_position_independent_program(int fd, const ElfW(Phdr) * segments, size_t count)
{
    ElfW(Dyn) entries[DYNAMIC_ENTRIES];

    for (size_t i = 0; i < count; i++) {
        size_t size = segments[i].p_filesz;

        if (segments[i].p_type != PT_DYNAMIC)
            continue;
        size = size < sizeof(entries) ? size : sizeof(entries);
        if (read_at(fd, entries, size, segments[i].p_offset))
            return false;
        for (size_t n = 0; n < size / sizeof(*entries) && entries[n].d_tag != DT_NULL; n++) {
            if (entries[n].d_tag == DT_FLAGS_1)
                return entries[n].d_un.d_val & DF_1_PIE;
        }
    }
    return false;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

int okosu_elf_code(int fd, struct okosu_elf_code *code)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), skew = 0, alignment = 0;
    bool foreign, first = true, program;
    ElfW(Ehdr) header = {0};
    ElfW(Phdr) * segments;
    struct stat st;
    int rc = read_header(fd, &header, &foreign);

    *code = (struct okosu_elf_code){0};
    code->why = "it holds less than one aligned huge page (2 MiB) of code or constants";
    if (rc || foreign)
        return rc ? rc : -ENOEXEC;
    if (fstat(fd, &st))
        return -errno;
    segments = read_segments(fd, &header, &rc);
    if (!segments)
        return rc;
    program = is_position_independent_program(fd, segments, header.e_phnum);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        const ElfW(Phdr) *segment = &segments[i];
        uint64_t start, end, its_skew = (segment->p_vaddr - segment->p_offset) % OKOSU_ELF_BLOCK;

        if (segment->p_type != PT_LOAD)
            continue;
        /* A library may be anywhere that suits its first segment; a program stays where it is. */
        if (first && header.e_type != ET_EXEC && !program)
            skew = its_skew;
        first = false;
        alignment = segment->p_align > alignment ? segment->p_align : alignment;
        if (segment->p_filesz > (uint64_t)st.st_size ||
            segment->p_offset > (uint64_t)st.st_size - segment->p_filesz) {
            rc = -EBADMSG;
            break;
        }
        if (segment->p_flags & PF_W)
            continue;
        start = round_up(segment->p_offset / page * page, OKOSU_ELF_BLOCK);
        end = round_up(segment->p_offset + segment->p_filesz, page) / OKOSU_ELF_BLOCK *
              OKOSU_ELF_BLOCK;
        if (end <= start)
            continue;
        if (its_skew != skew) {
            code->why = "its code is at other places in memory than in the file, modulo 2 MiB "
                        "(its linker did not align it)";
        } else if (code->count < OKOSU_ELF_RUNS) {
            code->runs[code->count++] = (struct okosu_elf_blocks){start, end - start};
        }
    }
    if (program && alignment < OKOSU_ELF_BLOCK && code->count) {
        code->count = 0;
        code->why =
            "it is a position-independent program that asks for no alignment, and the kernel "
            "loads it at any 4 KiB page (link it with -z max-page-size=2097152, or -no-pie)";
    }
    if (code->count)
        code->why = NULL;
    code->library = header.e_type == ET_DYN && !program && alignment < OKOSU_ELF_BLOCK;
    free(segments);
    return rc;
}
