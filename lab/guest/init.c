/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's first process: prepares the file systems, runs one command and halts.
 *
 * The file `job` beside this program (as argv[0] names it) says what to do: NUL-terminated strings
 *
 *   write=DIR          DIR can be written, and is the host's folder of that name (hostfs)
 *   from=DIR           DIR is this other folder of the host instead
 *   share=TAG          DIR is what the host shares under this name (9p) instead; then this guest's
 *                      own root is the host's, and root=DIR is bound from there
 *   share-at-end=TAG   DIR is in memory, and is copied to that share after the command
 *   keep=PATH          PATH below /tmp or /run stays visible under the tmpfs mounted there
 *   root=DIR           the command's root is the host's folder DIR, read-only
 *   cwd=DIR  env=NAME=VALUE  arg=WORD      the command
 *
 * The command's stdout and stderr go through pipes to the serial lines 0 and 1, byte for byte.
 * Line 2 says how it went:
 *
 *   start                      the command is about to start
 *   exit STATUS SECONDS        it ended by itself; 126 and 127 also say that it could not be
 *                              executed or was not found
 *   signal NUMBER SECONDS      a signal ended it
 *   fail TEXT                  this program could not do what the job says */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define NEW_ROOT "/run/root"

enum { MOST = 4096, LINES = 2 };

struct job {
    char *text;
    const char *cwd, *write, *from, *root, *share, *share_at_end;
    char *args[MOST], *envs[MOST], *keeps[MOST];
    int arg_count, env_count, keep_count;
};

static int control = STDERR_FILENO;

/* Sync and stop the machine. User-Mode Linux then returns from main(), so that profilers in it
 * write their files. */
__attribute__((noreturn)) static void halt(void)
{
    kill(-1, SIGKILL);
    sync();
    tcdrain(control);
    reboot(RB_POWER_OFF);
    for (;;)
        pause();
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vdprintf(control, format, values);
    va_end(values);
}

__attribute__((noreturn)) static void fail(const char *what, const char *which)
{
    say("fail %s %s: %s\n", what, which, strerror(errno));
    halt();
}

/* As mkdir -p. A folder that exists is no failure, also on a read-only file system. */
static void make_folder(const char *path)
{
    char part[MOST];

    if (strlen(path) >= sizeof(part)) {
        errno = ENAMETOOLONG;
        fail("mkdir", path);
    }
    for (size_t i = 1; i <= strlen(path); i++) {
        if (path[i] != '/' && path[i])
            continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0755) && errno != EEXIST && errno != EROFS)
            fail("mkdir", part);
    }
}

static void mount_on(const char *type, const char *path, const char *options)
{
    make_folder(path);
    if (mount(type, path, type, 0, options))
        fail("mount", path);
}

/* Mount a file system where the kernel has it; a kernel without it is no failure. */
static void mount_if_known(const char *type, const char *path)
{
    if (mkdir(path, 0755) && errno != EEXIST)
        return;
    if (mount(type, path, type, 0, NULL) && errno != ENODEV && errno != EBUSY)
        fail("mount", path);
}

static int open_line(int number)
{
    char path[32];
    struct termios raw;

    snprintf(path, sizeof(path), "/dev/ttyS%d", number);
    int line = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (line < 0 || tcgetattr(line, &raw))
        fail("open", path);
    cfmakeraw(&raw);
    if (tcsetattr(line, TCSANOW, &raw))
        fail("set raw", path);
    return line;
}

static void add(char **list, int *count, char *value)
{
    if (*count == MOST - 1) {
        errno = E2BIG;
        fail("read", "job");
    }
    list[(*count)++] = value;
}

static void read_job(struct job *job, const char *self)
{
    char path[MOST];
    struct stat info;
    const char *slash = strrchr(self, '/');

    snprintf(path, sizeof(path), "%.*s/job", slash ? (int)(slash - self) : 0, self);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &info))
        fail("open", path);
    size_t size = (size_t)info.st_size, got = 0;
    job->text = calloc(1, size + 1);
    if (!job->text)
        fail("allocate for", path);
    while (got < size) {
        ssize_t n = read(file, job->text + got, size - got);
        if (n <= 0)
            fail("read", path);
        got += (size_t)n;
    }
    close(file);
    for (char *word = job->text; word < job->text + size; word += strlen(word) + 1) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        value++;
        if (!strncmp(word, "arg=", 4))
            add(job->args, &job->arg_count, value);
        else if (!strncmp(word, "env=", 4))
            add(job->envs, &job->env_count, value);
        else if (!strncmp(word, "keep=", 5))
            add(job->keeps, &job->keep_count, value);
        else if (!strncmp(word, "write=", 6))
            job->write = value;
        else if (!strncmp(word, "from=", 5))
            job->from = value;
        else if (!strncmp(word, "root=", 5))
            job->root = value;
        else if (!strncmp(word, "share=", 6))
            job->share = value;
        else if (!strncmp(word, "share-at-end=", 13))
            job->share_at_end = value;
        else if (!strncmp(word, "cwd=", 4))
            job->cwd = value;
    }
}

/* Bind an open file or folder of the host to its own name in the tmpfs that now hides it. */
static void bind_again(int kept, const char *path)
{
    char source[32];
    struct stat info;

    if (fstat(kept, &info))
        fail("stat", path);
    if (S_ISDIR(info.st_mode)) {
        make_folder(path);
    } else {
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0)
            fail("create", path);
        close(file);
    }
    snprintf(source, sizeof(source), "/proc/self/fd/%d", kept);
    if (mount(source, path, NULL, MS_BIND | MS_REC, NULL))
        fail("bind", path);
    close(kept);
}

static void mount_host(const char *host, const char *path, unsigned long flags)
{
    make_folder(path);
    if (mount("none", path, "hostfs", flags, host))
        fail("mount", path);
}

static void mount_share(const char *tag, const char *path)
{
    make_folder(path);
    if (mount(tag, path, "9p", 0, "trans=virtio,version=9p2000.L,msize=262144,cache=mmap"))
        fail("mount", path);
}

/* Mount the command's root at NEW_ROOT: the host's folder, and in it /proc, /sys and so on. */
static void mount_root(const struct job *job)
{
    static const char *const same[] = {"/proc", "/sys", "/dev", "/tmp"};
    char path[MOST];

    if (!job->share) {
        mount_host(job->root, NEW_ROOT, MS_RDONLY);
    } else {
        make_folder(NEW_ROOT);
        if (mount(job->root, NEW_ROOT, NULL, MS_BIND | MS_REC, NULL))
            fail("bind", job->root);
    }
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        snprintf(path, sizeof(path), NEW_ROOT "%s", same[i]);
        if (mount(same[i], path, NULL, MS_BIND | MS_REC, NULL))
            fail("mount", path);
    }
    mount_on("tmpfs", NEW_ROOT "/run", "mode=755");
}

static void mount_all(const struct job *job)
{
    static int kept[MOST];
    char path[MOST];

    for (int i = 0; i < job->keep_count; i++)
        kept[i] = open(job->keeps[i], O_PATH | O_CLOEXEC);
    mount_on("tmpfs", "/tmp", "mode=1777");
    mount_on("tmpfs", "/run", "mode=755");
    for (int i = 0; i < job->keep_count; i++)
        if (kept[i] >= 0)
            bind_again(kept[i], job->keeps[i]);
    if (job->root)
        mount_root(job);
    if (job->write) {
        snprintf(path, sizeof(path), "%s%s", job->root ? NEW_ROOT : "", job->write);
        if (job->share_at_end)
            make_folder(path);
        else if (job->share)
            mount_share(job->share, path);
        else
            mount_host(job->from ? job->from : job->write, path, 0);
    }
}

static void child(const struct job *job, int out, int err)
{
    sigset_t none;
    int nothing = open("/dev/null", O_RDONLY);

    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (nothing > STDERR_FILENO)
        close(nothing);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGCHLD, SIG_DFL);
    setsid();
    if ((job->root && chroot(NEW_ROOT)) || chdir(job->cwd)) {
        dprintf(STDERR_FILENO, "okosu: %s: %s\n", job->cwd, strerror(errno));
        _exit(126);
    }
    execvpe(job->args[0], job->args, job->envs);
    dprintf(STDERR_FILENO, "okosu: %s: %s\n", job->args[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* Copy what is in the pipe to the line; false at the end of the pipe. */
static int pump(int pipe, int line)
{
    char block[4096];

    for (;;) {
        ssize_t n = read(pipe, block, sizeof(block));
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        if (n == 0)
            return 0;
        for (ssize_t done = 0; done < n;) {
            ssize_t written = write(line, block + done, (size_t)(n - done));
            if (written < 0 && errno != EINTR)
                return 0;
            done += written < 0 ? 0 : written;
        }
    }
}

static void on_child(int number)
{
    (void)number;
}

/* Reap every process that has ended; true once the command is among them. */
static int reap(pid_t command, int *status)
{
    int any, found = 0;
    pid_t ended;

    while ((ended = waitpid(-1, &any, WNOHANG)) > 0) {
        if (ended == command) {
            *status = any;
            found = 1;
        }
    }
    return found;
}

static int run(const struct job *job, const int lines[LINES])
{
    int from[LINES][2], status = 0;
    struct pollfd polled[LINES];
    sigset_t blocked, open_mask;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, &open_mask);
    signal(SIGCHLD, on_child);
    for (int i = 0; i < LINES; i++) {
        if (pipe2(from[i], O_CLOEXEC))
            fail("make", "a pipe");
        fcntl(from[i][0], F_SETFL, O_NONBLOCK);
        polled[i] = (struct pollfd){.fd = from[i][0], .events = POLLIN};
    }
    pid_t command = fork();
    if (command < 0)
        fail("fork", job->args[0]);
    if (!command)
        child(job, from[0][1], from[1][1]);
    for (int i = 0; i < LINES; i++)
        close(from[i][1]);
    while (!reap(command, &status)) {
        if (ppoll(polled, LINES, NULL, &open_mask) < 0)
            continue;
        for (int i = 0; i < LINES; i++)
            if (polled[i].revents && !pump(from[i][0], lines[i]))
                polled[i].fd = -1;
    }
    for (int i = 0; i < LINES; i++) {
        pump(from[i][0], lines[i]);
        tcdrain(lines[i]);
    }
    return status;
}

/* Copy what the command left in memory to the host. It happens after the command has ended, so that
 * the host's timing cannot make two exact runs differ. */
static void hand_back(const struct job *job)
{
    char from[MOST];
    int status;

    mount_share(job->share_at_end, "/mnt");
    snprintf(from, sizeof(from), "%s/.", job->write);
    pid_t copier = fork();
    if (!copier) {
        execlp("busybox", "busybox", "cp", "-R", from, "/mnt", (char *)NULL);
        _exit(127);
    }
    if (copier < 0 || waitpid(copier, &status, 0) < 0 || status)
        fail("hand back", job->write);
    if (umount("/mnt"))
        fail("unmount", "/mnt");
}

int main(int argc, char **argv)
{
    static const char *const links[][2] = {{"/proc/self/fd", "/dev/fd"},
                                           {"/proc/self/fd/0", "/dev/stdin"},
                                           {"/proc/self/fd/1", "/dev/stdout"},
                                           {"/proc/self/fd/2", "/dev/stderr"}};
    static struct job job;
    struct timespec start, end;
    int lines[LINES];

    (void)argc;
    mount_on("proc", "/proc", NULL);
    if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY)
        fail("mount", "/dev");
    control = open_line(LINES);
    for (int i = 0; i < LINES; i++)
        lines[i] = open_line(i);
    mount_on("sysfs", "/sys", NULL);
    mount_if_known("debugfs", "/sys/kernel/debug");
    mount_if_known("devpts", "/dev/pts");
    mount_if_known("tmpfs", "/dev/shm");
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
        if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
            fail("link", links[i][1]);
    read_job(&job, argv[0]);
    mount_all(&job);
    if (!job.arg_count || !job.cwd) {
        errno = EINVAL;
        fail("understand", "job");
    }
    say("start\n");
    clock_gettime(CLOCK_MONOTONIC, &start);
    int status = run(&job, lines);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    if (job.share_at_end)
        hand_back(&job);
    sync();
    if (WIFSIGNALED(status))
        say("signal %d %.9f\n", WTERMSIG(status), seconds);
    else
        say("exit %d %.9f\n", WEXITSTATUS(status), seconds);
    halt();
}
