/* What changes files below a folder, watched at the system calls; loaded with LD_PRELOAD.

   watch_kill(folder, n, how): the n-th call from now kills the process: how 0 before the call, 1
   after it, 2 after half of what it writes (of other calls: after it).
   watch_fail(folder, n, error, kinds): the n-th call from now of these kinds fails with this errno,
   and with ENOSPC and EDQUOT all that follow; with 0 it writes half of what it should.
   watch_log(folder, file): each call is appended to a file, in the order that the calls end in:
   a header (kind, two lengths, offset), a path or two, and what was written.
   A call that copies inside of the system is refused, so that what it copies is written too. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))real(#name))

static char below[PATH_MAX];
static long left = 0;
static int how = 0, kept = -1, failing = -1, kinds = 0;
enum { WRITE = 1, SIZE = 2, SYNC = 4, CREATE = 8, OPEN = 16, READ = 32, NAME = 64 };
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

static int inside(const char *path) {
    size_t n = strlen(below);
    return n && !strncmp(path, below, n) && path[n] == '/';
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return inside(path);
}

static int absolute(const char *given, char *path) {
    if (given[0] == '/') {
        snprintf(path, PATH_MAX, "%s", given);
    } else {
        if (!getcwd(path, PATH_MAX)) return 0;
        size_t n = strlen(path);
        snprintf(path + n, PATH_MAX - n, "/%s", given);
    }
    return inside(path);
}

static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

/* Count a call; 1 where the process must die in it, 2 where half of it is done, -1 where it fails. */
static int counted(int kind) {
    if (failing >= 0) {
        if (!(kind & kinds)) return 0;
        int on = failing == ENOSPC || failing == EDQUOT;
        if (left > 0) left--;
        else if (left < 0 || !on) return 0;
        if (left) return 0;
        if (!on) left = -1;
        if (!failing) return 2;
        errno = failing;
        return -1;
    }
    if (left <= 0) return 0;
    if (--left) return 0;
    if (how == 0) die();
    return 1;
}

static void put(const void *from, size_t n) {
    const char *at = from;
    while (n) {
        ssize_t done = REAL(write)(kept, at, n);
        if (done <= 0) abort();
        at += done;
        n -= done;
    }
}

static void note(char kind, const char *one, const char *other, int64_t offset,
                 const void *content, uint64_t size) {
    if (kept < 0) return;
    uint32_t lengths[2] = {strlen(one), other ? strlen(other) : 0};
    put(&kind, 1);
    put(lengths, sizeof lengths);
    put(&offset, sizeof offset);
    put(&size, sizeof size);
    put(one, lengths[0]);
    if (other) put(other, lengths[1]);
    if (content) put(content, size);
}

void watch_kill(const char *folder, long n, int when) {
    snprintf(below, sizeof below, "%s", folder);
    how = when;
    left = n;
}

void watch_fail(const char *folder, long n, int error, int of) {
    snprintf(below, sizeof below, "%s", folder);
    failing = error;
    kinds = of;
    left = n;
}

void watch_log(const char *folder, const char *file) {
    snprintf(below, sizeof below, "%s", folder);
    kept = REAL(open)(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
}

long watch_left(void) { return left; }

/* ------------------------------------------------------------------ calls on a file */

static ssize_t written(int fd, const void *buffer, size_t n, off_t offset, int placed) {
    char path[PATH_MAX];
    if (!below[0] || fd == kept || !path_of(fd, path))
        return placed ? REAL(pwrite64)(fd, buffer, n, offset) : REAL(write)(fd, buffer, n);
    pthread_mutex_lock(&turn);
    int last = counted(WRITE);
    if (last < 0) {
        pthread_mutex_unlock(&turn);
        return -1;
    }
    size_t much = last == 2 || (last && how == 2) ? n / 2 : n;
    if (!placed) {
        offset = lseek(fd, 0, SEEK_CUR);
        if (fcntl(fd, F_GETFL) & O_APPEND) offset = lseek(fd, 0, SEEK_END);
    }
    ssize_t done = placed ? REAL(pwrite64)(fd, buffer, much, offset) : REAL(write)(fd, buffer, much);
    if (last == 1) die();
    if (done > 0) note('w', path, NULL, offset, buffer, done);
    pthread_mutex_unlock(&turn);
    return done;
}

ssize_t write(int fd, const void *buffer, size_t n) { return written(fd, buffer, n, 0, 0); }
ssize_t pwrite(int fd, const void *b, size_t n, off_t at) { return written(fd, b, n, at, 1); }
ssize_t pwrite64(int fd, const void *b, size_t n, off64_t at) { return written(fd, b, n, at, 1); }

ssize_t sendfile(int out, int in, off_t *at, size_t n) {
    (void)out; (void)in; (void)at; (void)n;
    errno = ENOTSOCK;
    return -1;
}
ssize_t sendfile64(int out, int in, off64_t *at, size_t n) { return sendfile(out, in, (off_t *)at, n); }
ssize_t copy_file_range(int in, off64_t *a, int out, off64_t *b, size_t n, unsigned f) {
    (void)in; (void)a; (void)out; (void)b; (void)n; (void)f;
    errno = EXDEV;
    return -1;
}

static int truncated(int fd, off_t size) {
    char path[PATH_MAX];
    if (!below[0] || !path_of(fd, path)) return REAL(ftruncate64)(fd, size);
    pthread_mutex_lock(&turn);
    int last = counted(SIZE), done = last < 0 ? last : REAL(ftruncate64)(fd, size);
    if (last == 1) die();
    if (!done) note('t', path, NULL, size, NULL, 0);
    pthread_mutex_unlock(&turn);
    return done;
}
int ftruncate(int fd, off_t size) { return truncated(fd, size); }
int ftruncate64(int fd, off64_t size) { return truncated(fd, size); }

static int synced(int fd, int (*sync)(int)) {
    char path[PATH_MAX];
    int folder = 0;
    if (below[0] && path_of(fd, path)) folder = 1;
    else if (below[0] && !strcmp(path, below)) folder = 1;
    if (!folder) return sync(fd);
    pthread_mutex_lock(&turn);
    int last = counted(SYNC), done = last < 0 ? last : sync(fd);
    if (last == 1) die();
    if (!done) note('s', path, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    return done;
}
int fsync(int fd) { return synced(fd, REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }

/* ------------------------------------------------------------------ calls on a name */

static int opened(const char *name, int flags, mode_t mode, int (*call)(const char *, int, ...)) {
    char path[PATH_MAX];
    struct stat about;
    if (!below[0] || !absolute(name, path)) return call(name, flags, mode);
    if (!(flags & (O_CREAT | O_TRUNC)) || kinds & OPEN) {
        int failed = kinds & OPEN ? counted(OPEN) : 0;
        return failed < 0 ? failed : call(name, flags, mode);
    }
    pthread_mutex_lock(&turn);
    int known = !stat(path, &about);
    if (known && !(flags & O_TRUNC)) {
        pthread_mutex_unlock(&turn);
        return call(name, flags, mode);
    }
    int last = counted(CREATE), fd = last < 0 ? last : call(name, flags, mode);
    if (last == 1) die();
    if (fd >= 0) note(known ? 'e' : 'c', path, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    return fd;
}
int open(const char *name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return opened(name, flags, mode, (int (*)(const char *, int, ...))REAL(open));
}
int open64(const char *name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return opened(name, flags, mode, (int (*)(const char *, int, ...))REAL(open64));
}

int rename(const char *from, const char *to) {
    char one[PATH_MAX], other[PATH_MAX];
    int within = below[0] && absolute(from, one);
    within = below[0] && absolute(to, other) && within;
    if (!within) return REAL(rename)(from, to);
    pthread_mutex_lock(&turn);
    int last = counted(NAME), done = last < 0 ? last : REAL(rename)(from, to);
    if (last == 1) die();
    if (!done) note('r', one, other, 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    return done;
}
int renameat(int a, const char *from, int b, const char *to) {
    if (a == AT_FDCWD && b == AT_FDCWD) return rename(from, to);
    return REAL(renameat)(a, from, b, to);
}

static int named(char kind, const char *name, mode_t mode) {
    char path[PATH_MAX];
    int within = below[0] && absolute(name, path), last = 0;
    if (within) {
        pthread_mutex_lock(&turn);
        last = counted(NAME);
    }
    int done = last < 0 ? last : kind == 'u' ? REAL(unlink)(name)
             : kind == 'm' ? REAL(mkdir)(name, mode) : REAL(rmdir)(name);
    if (last == 1) die();
    if (within) {
        if (!done) note(kind, path, NULL, 0, NULL, 0);
        pthread_mutex_unlock(&turn);
    }
    return done;
}
int unlink(const char *name) { return named('u', name, 0); }
int mkdir(const char *name, mode_t mode) { return named('m', name, mode); }
int rmdir(const char *name) { return named('d', name, 0); }

/* What Python removes in a folder that it has opened. */
int unlinkat(int fd, const char *name, int flags) {
    char path[PATH_MAX] = "", whole[2 * PATH_MAX];
    if (fd == AT_FDCWD || !below[0] || !path_of(fd, path)) return REAL(unlinkat)(fd, name, flags);
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    return flags & AT_REMOVEDIR ? rmdir(whole) : unlink(whole);
}

/* ------------------------------------------------------------------ calls that read */

static int unread(int fd) {
    char path[PATH_MAX];
    return kinds & READ && path_of(fd, path) && counted(READ) < 0;
}
ssize_t read(int fd, void *to, size_t n) { return unread(fd) ? -1 : REAL(read)(fd, to, n); }
ssize_t pread(int fd, void *to, size_t n, off_t at) {
    return unread(fd) ? -1 : REAL(pread64)(fd, to, n, at);
}
ssize_t pread64(int fd, void *to, size_t n, off64_t at) { return pread(fd, to, n, at); }
