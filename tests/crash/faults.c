/* A disk that fails, from outside: loaded before a program, it counts the calls by which that changes files below a
 * folder, and at one of them fails, writes only half, or ends the process. Nothing of the program knows of it.
 *
 *   FAULT_UNDER   the folder
 *   FAULT_COUNT   a file to which a line is added for every call that was counted: its name, and the path
 *   FAULT_AT      the call that is disturbed, from 1; 0 for none
 *   FAULT_HOW     the number of an error; "half" (a write of half the bytes, then EIO); "before" and "after" (killed)
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int calls;
static __thread int inside;

static __thread char path[PATH_MAX + NAME_MAX + 2]; /* of the last call that was looked at */

static int below(int folder, const char *name) {
    const char *under = getenv("FAULT_UNDER");
    char link[64];
    ssize_t length = 0;
    if (!under || inside) return 0;
    if (name && name[0] == '/') {
        snprintf(path, sizeof path, "%s", name);
    } else {
        if (folder == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        length = readlink(link, path, PATH_MAX);
        if (length < 0) return 0;
        path[length] = 0;
        if (name) snprintf(path + length, sizeof path - length, "/%s", name);
    }
    return strncmp(path, under, strlen(under)) == 0 && strstr(path, ".lock") == NULL;
}

/* 0: go on; -1: fail with errno set; 1: half of it; 2: killed afterwards */
static int disturbed(const char *call, int half) {
    const char *at = getenv("FAULT_AT"), *how = getenv("FAULT_HOW"), *count = getenv("FAULT_COUNT");
    int number = __sync_add_and_fetch(&calls, 1);
    if (count) {
        inside = 1;
        int file = open(count, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (file >= 0) { dprintf(file, "%s %s\n", call, path); close(file); }
        inside = 0;
    }
    if (!at || !how || number != atoi(at)) return 0;
    if (!strcmp(how, "before")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "after")) return 2;
    if (!strcmp(how, "half")) { errno = EIO; return half ? 1 : -1; }
    errno = atoi(how);
    return -1;
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)
#define AROUND(call) do { \
    if (what < 0) return -1; \
    __typeof__(call) made = call; \
    if (what == 2) kill(getpid(), SIGKILL); \
    return made; \
} while (0)

ssize_t write(int fd, const void *data, size_t size) {
    REAL(write);
    int what = below(fd, NULL) ? disturbed(__func__, 1) : 0;
    if (what == 1) { ssize_t ignored = real(fd, data, size / 2); (void)ignored; errno = EIO; return -1; }
    AROUND(real(fd, data, size));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    REAL(pwrite64);
    int what = below(fd, NULL) ? disturbed(__func__, 1) : 0;
    if (what == 1) { ssize_t ignored = real(fd, data, size / 2, at); (void)ignored; errno = EIO; return -1; }
    AROUND(real(fd, data, size, at));
}

int fsync(int fd) { REAL(fsync); int what = below(fd, NULL) ? disturbed(__func__, 0) : 0; AROUND(real(fd)); }
int fdatasync(int fd) { REAL(fdatasync); int what = below(fd, NULL) ? disturbed(__func__, 0) : 0; AROUND(real(fd)); }
int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); int what = below(fd, NULL) ? disturbed(__func__, 0) : 0; AROUND(real(fd, size)); }
int mkdirat(int folder, const char *name, mode_t mode) { REAL(mkdirat); int what = below(folder, name) ? disturbed(__func__, 0) : 0; AROUND(real(folder, name, mode)); }
int mkdir(const char *name, mode_t mode) { REAL(mkdir); int what = below(AT_FDCWD, name) ? disturbed(__func__, 0) : 0; AROUND(real(name, mode)); }
int renameat(int from, const char *old, int to, const char *new) { REAL(renameat); int what = below(to, new) ? disturbed(__func__, 0) : 0; AROUND(real(from, old, to, new)); }
int unlinkat(int folder, const char *name, int flags) { REAL(unlinkat); int what = below(folder, name) ? disturbed(__func__, 0) : 0; AROUND(real(folder, name, flags)); }
int unlink(const char *name) { REAL(unlink); int what = below(AT_FDCWD, name) ? disturbed(__func__, 0) : 0; AROUND(real(name)); }
int rmdir(const char *name) { REAL(rmdir); int what = below(AT_FDCWD, name) ? disturbed(__func__, 0) : 0; AROUND(real(name)); }
int linkat(int from, const char *old, int to, const char *new, int flags) { REAL(linkat); int what = below(to, new) ? disturbed(__func__, 0) : 0; AROUND(real(from, old, to, new, flags)); }
int rename(const char *old, const char *new) { REAL(rename); int what = below(AT_FDCWD, new) ? disturbed(__func__, 0) : 0; AROUND(real(old, new)); }

static int creates(int flags) { return flags & O_CREAT; }

int openat64(int folder, const char *name, int flags, ...) {
    REAL(openat64);
    va_list more; va_start(more, flags); mode_t mode = creates(flags) ? va_arg(more, mode_t) : 0; va_end(more);
    int what = creates(flags) && below(folder, name) ? disturbed(__func__, 0) : 0;
    AROUND(real(folder, name, flags, mode));
}

int open64(const char *name, int flags, ...) {
    REAL(open64);
    va_list more; va_start(more, flags); mode_t mode = creates(flags) ? va_arg(more, mode_t) : 0; va_end(more);
    int what = creates(flags) && below(AT_FDCWD, name) ? disturbed(__func__, 0) : 0;
    AROUND(real(name, flags, mode));
}
