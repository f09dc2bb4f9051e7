/* SPDX-License-Identifier: Apache-2.0 */
/* dlopen, and what a library that was loaded with RTLD_DEEPBIND is bound to (see deepbind.h). */
#include "deepbind.h"

#include "next.h"

#include <dlfcn.h>
#include <elf.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
#define IS_POINTER(type)                                                                           \
    ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT || (type) == R_X86_64_64)
#define IS_LAZY(type) ((type) == R_X86_64_JUMP_SLOT)
#elif defined(__aarch64__)
#define IS_POINTER(type)                                                                           \
    ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT || (type) == R_AARCH64_ABS64)
#define IS_LAZY(type) ((type) == R_AARCH64_JUMP_SLOT)
#else
#error "which relocations of this architecture are pointers to functions?"
#endif

/* libc looks at the address that it returns to for the library that calls it: our functions jump, also
 * in a build without optimisation. */
#ifdef __clang__
#define JUMPS
#define JUMP __attribute__((musttail))
#else
#define JUMPS __attribute__((optimize("O2")))
#define JUMP
#endif

#define MOST_MEMBERS 256
#define PAGE_MASK ((uintptr_t)4095)

static void *(*next_dlopen)(const char *, int);
static void *(*next_dlmopen)(Lmid_t, const char *, int);

/* The functions that have to see each other's blocks. One that no library of ours stands before
 * stays libc's. */
static const char *const hooks[] = {
    "malloc",
    "calloc",
    "free",
    "free_sized",
    "free_aligned_sized",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "malloc_trim",
    "malloc_usable_size",
    "mmap",
    "mmap64",
    "munmap",
    "mprotect",
    "pkey_mprotect",
    "mremap",
    "madvise",
    "mlock",
    "mlock2",
    "shmat",
    "shmdt",
};

#define HOOKS (sizeof(hooks) / sizeof(hooks[0]))

/* Functions of libc with those that stand in their place, and the objects in which they are bound
 * anew: what was loaded and what it needs, directly or not. No other object is touched: another
 * thread may be loading it, and about to make it read-only. */
struct rebinding {
    const char *names[HOOKS];
    uintptr_t from[HOOKS], to[HOOKS];
    const ElfW(Dyn) * members[MOST_MEMBERS];
    size_t count, member_count;
    bool failed;
};

/* One loaded object. */
struct object {
    uintptr_t base, begin, end;
    uintptr_t sealed, sealed_end; /* read-only after relocation */
    const ElfW(Dyn) * dynamic;
    const ElfW(Sym) * symbols;
    const char *strings;
};

/* libokosu-preload.so may stand before this library and pass on to it. */
static bool is_ours(const void *function)
{
    Dl_info its;
    const char *name = function && dladdr(function, &its) ? strrchr(its.dli_fname, '/') : NULL;

    return name && strncmp(name, "/libokosu-", strlen("/libokosu-")) == 0;
}

/* A hook that another library or the program itself stands before is not bound to anything. */
static void compare(struct rebinding *r, void *handle)
{
    void *libc = next_dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);

    for (size_t i = 0; libc && i < HOOKS; i++) {
        void *ours = dlsym(RTLD_DEFAULT, hooks[i]), *theirs = dlsym(libc, hooks[i]);

        if (theirs && theirs == dlsym(handle, hooks[i]) && is_ours(ours)) {
            r->names[r->count] = hooks[i];
            r->from[r->count] = (uintptr_t)theirs;
            r->to[r->count++] = (uintptr_t)ours;
        }
    }
    if (libc)
        dlclose(libc);
    r->failed = !libc;
}

static bool put(const struct object *object, uintptr_t place, uintptr_t value)
{
    bool sealed = place >= object->sealed && place < object->sealed_end;
    void *page = (void *)(place & ~PAGE_MASK);

    if (sealed && syscall(SYS_mprotect, page, PAGE_MASK + 1, PROT_READ | PROT_WRITE))
        return false;
    __atomic_store_n((uintptr_t *)place, value, __ATOMIC_RELAXED);
    if (sealed)
        syscall(SYS_mprotect, page, PAGE_MASK + 1, PROT_READ);
    return true;
}

static void rebind_pointer(struct rebinding *r, const struct object *object,
                           const ElfW(Rela) * rela)
{
    const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(rela->r_info)];
    uintptr_t place = object->base + rela->r_offset, value;
    bool unresolved;

    if (!IS_POINTER(ELF64_R_TYPE(rela->r_info)) || rela->r_addend || symbol->st_shndx != SHN_UNDEF)
        return;
    value = __atomic_load_n((uintptr_t *)place, __ATOMIC_RELAXED);
    unresolved =
        IS_LAZY(ELF64_R_TYPE(rela->r_info)) && value >= object->begin && value < object->end;
    for (size_t i = 0; i < r->count; i++) {
        if ((value == r->from[i] || unresolved) &&
            strcmp(object->strings + symbol->st_name, r->names[i]) == 0) {
            r->failed |= !put(object, place, r->to[i]);
            return;
        }
    }
}

static const ElfW(Dyn) * find_tag(const ElfW(Dyn) * dynamic, ElfW(Sxword) tag)
{
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == tag)
            return dynamic;
    }
    return NULL;
}

/* libc has added the object's base to the addresses in its dynamic section. */
static const void *find_table(const ElfW(Dyn) * dynamic, ElfW(Sxword) tag)
{
    dynamic = find_tag(dynamic, tag);
    return dynamic ? (const void *)dynamic->d_un.d_ptr : NULL;
}

static struct object describe(const struct dl_phdr_info *info)
{
    struct object object = {.base = info->dlpi_addr, .begin = UINTPTR_MAX};

    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = object.base + segment->p_vaddr, end = begin + segment->p_memsz;

        if (segment->p_type == PT_DYNAMIC) {
            object.dynamic = (const void *)begin;
        } else if (segment->p_type == PT_GNU_RELRO) {
            object.sealed = begin & ~PAGE_MASK;
            object.sealed_end = end & ~PAGE_MASK;
        } else if (segment->p_type == PT_LOAD) {
            object.begin = begin < object.begin ? begin : object.begin;
            object.end = end > object.end ? end : object.end;
        }
    }
    object.symbols = find_table(object.dynamic, DT_SYMTAB);
    object.strings = find_table(object.dynamic, DT_STRTAB);
    return object;
}

static bool is_member(const struct rebinding *r, const ElfW(Dyn) * dynamic)
{
    for (size_t i = 0; i < r->member_count; i++) {
        if (r->members[i] == dynamic)
            return true;
    }
    return false;
}

static bool is_needed(const struct rebinding *r, const char *name)
{
    for (size_t i = 0; i < r->member_count; i++) {
        const char *strings = find_table(r->members[i], DT_STRTAB);

        for (const ElfW(Dyn) *d = r->members[i]; strings && d->d_tag != DT_NULL; d++) {
            if (d->d_tag == DT_NEEDED && strcmp(strings + d->d_un.d_val, name) == 0)
                return true;
        }
    }
    return false;
}

/* The vDSO is the kernel's: libc adds nothing there, and no library needs it by name. */
static int add_member(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct rebinding *r = arg;
    struct object object = describe(info);
    const ElfW(Dyn) *soname = find_tag(object.dynamic, DT_SONAME);
    const char *file = strrchr(info->dlpi_name, '/');

    if ((uintptr_t)object.strings < object.base || is_member(r, object.dynamic) ||
        !((soname && is_needed(r, object.strings + soname->d_un.d_val)) ||
          is_needed(r, info->dlpi_name) || (file && is_needed(r, file + 1))))
        return 0;
    if (r->member_count == MOST_MEMBERS)
        r->failed = true;
    else
        r->members[r->member_count++] = object.dynamic;
    return 0;
}

static int rebind_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct rebinding *r = arg;
    struct object object = describe(info);
    const struct {
        ElfW(Sxword) table, size;
    } tables[] = {{DT_RELA, DT_RELASZ}, {DT_JMPREL, DT_PLTRELSZ}};

    if (!is_member(r, object.dynamic) || !object.symbols || !object.strings)
        return 0;
    for (int i = 0; i < 2; i++) {
        const ElfW(Rela) *table = find_table(object.dynamic, tables[i].table);
        const ElfW(Dyn) *bytes = find_tag(object.dynamic, tables[i].size);

        for (size_t k = 0; table && bytes && k < bytes->d_un.d_val / sizeof *table; k++)
            rebind_pointer(r, &object, &table[k]);
    }
    return 0;
}

/* Whoever opens the library binds it anew, also where another thread has just loaded it and is about
 * to do the same. A lock would be taken before libc's own here, and after it in a constructor. */
static __attribute__((noinline)) void *open_deeply(const char *file, int flags)
{
    struct rebinding r = {.count = 0};
    struct link_map *map;
    void *handle = next_dlopen(file, flags);
    size_t before = 0;

    if (!handle)
        return NULL;
    compare(&r, handle);
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map))
        r.failed = true;
    else
        r.members[r.member_count++] = map->l_ld;
    while (!r.failed && r.member_count > before) {
        before = r.member_count;
        dl_iterate_phdr(add_member, &r);
    }
    if (!r.failed)
        dl_iterate_phdr(rebind_object, &r);
    if (r.failed)
        okosu_hooks_stop();
    /* The program is not to find the message of a look-up of ours. */
    dlerror();
    return handle;
}

/* libc searches along the RUNPATH of the library that calls it, and expands $ORIGIN to its folder.
 * So it has to be jumped to where either can matter. */
static bool depends_on_caller(const char *file)
{
    return !strchr(file, '/') || strchr(file, '$');
}

static bool is_loaded(const char *file)
{
    void *handle = next_dlopen(file, RTLD_LAZY | RTLD_NOLOAD);

    return handle && dlclose(handle) == 0;
}

OKOSU_EXPORT JUMPS void *dlopen(const char *file, int flags)
{
    if (!next_dlopen && !okosu_next_find(&next_dlopen, "dlopen"))
        return NULL;
    if (flags & RTLD_DEEPBIND && file && okosu_hooks_serve()) {
        if (!depends_on_caller(file))
            return open_deeply(file, flags);
        if (!is_loaded(file))
            okosu_hooks_stop();
    }
    JUMP return next_dlopen(file, flags);
}

/* A new namespace has a libc of its own, which knows neither our blocks nor our functions. */
OKOSU_EXPORT JUMPS void *dlmopen(Lmid_t space, const char *file, int flags)
{
    if (!next_dlmopen && !okosu_next_find(&next_dlmopen, "dlmopen"))
        return NULL;
    if ((flags & RTLD_DEEPBIND || space != LM_ID_BASE) && okosu_hooks_serve())
        okosu_hooks_stop();
    JUMP return next_dlmopen(space, file, flags);
}
