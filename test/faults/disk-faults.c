// A disk that fails on command: preloaded into a process and its children (LD_PRELOAD), told by a file that all map.
//
//   cc -shared -fPIC -O1 -o disk-faults.so disk-faults.c -ldl
//   SERIATIM_DISK_FAULTS=control LD_PRELOAD=./disk-faults.so node ...
//
// The control file (test/faults/disk-faults.ts writes it) is one `struct control`. A call that is of an armed kind, on a
// file whose path contains `name`, is let pass `skip` times; then `count` of them fail.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE = 2, SYNC = 4 };
enum { SHORT_WRITE = -1, KILL = -2 };

struct control {
  int32_t kinds;     // which calls fail; 0: none
  int32_t error;     // errno, or SHORT_WRITE: half of the bytes are written, or KILL: the group of the process is killed before the call
  int32_t skip;      // so many of them pass first
  int32_t count;     // so many of them fail then
  int32_t failed;    // how many have failed
  int32_t synced;    // syncs of such files that passed
  char name[104];
};

static struct control *control;

__attribute__((constructor)) static void map_control(void) {
  const char *path = getenv("SERIATIM_DISK_FAULTS");
  if (path == NULL) return;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *map = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) control = map;
  close(fd);
}

static int is_named(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strstr(path, control->name) != NULL;
}

// 0: the call goes on. Otherwise what it fails with.
static int fault(int kind, int fd) {
  if (control == NULL || control->name[0] == 0 || !is_named(fd)) return 0;
  if (kind == SYNC && !(control->kinds & SYNC)) __atomic_add_fetch(&control->synced, 1, __ATOMIC_SEQ_CST);
  if (!(control->kinds & kind)) return 0;
  if (__atomic_sub_fetch(&control->skip, 1, __ATOMIC_SEQ_CST) >= 0) return 0;
  if (__atomic_sub_fetch(&control->count, 1, __ATOMIC_SEQ_CST) < 0) return 0;
  __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
  if (control->error == KILL) kill(0, SIGKILL);
  return control->error;
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define FAIL_OR(half, whole) \
  int error = fault(WRITE, fd); \
  if (error == SHORT_WRITE) return half; \
  if (error != 0) { \
    errno = error; \
    return -1; \
  } \
  return whole

ssize_t write(int fd, const void *bytes, size_t length) {
  REAL(write);
  FAIL_OR(real(fd, bytes, length / 2), real(fd, bytes, length));
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
  REAL(pwrite);
  FAIL_OR(real(fd, bytes, length / 2, at), real(fd, bytes, length, at));
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
  REAL(pwrite64);
  FAIL_OR(real(fd, bytes, length / 2, at), real(fd, bytes, length, at));
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(writev);
  FAIL_OR(real(fd, parts, count > 1 ? count / 2 : 0), real(fd, parts, count));
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  REAL(pwritev);
  FAIL_OR(real(fd, parts, count > 1 ? count / 2 : 0, at), real(fd, parts, count, at));
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
  REAL(pwritev64);
  FAIL_OR(real(fd, parts, count > 1 ? count / 2 : 0, at), real(fd, parts, count, at));
}

#define OTHER(kind, call) \
  int error = fault(kind, fd); \
  if (error != 0) { \
    errno = error < 0 ? EIO : error; \
    return -1; \
  } \
  return call

int ftruncate(int fd, off_t length) {
  REAL(ftruncate);
  OTHER(TRUNCATE, real(fd, length));
}

int ftruncate64(int fd, off64_t length) {
  REAL(ftruncate64);
  OTHER(TRUNCATE, real(fd, length));
}

int fsync(int fd) {
  REAL(fsync);
  OTHER(SYNC, real(fd));
}

int fdatasync(int fd) {
  REAL(fdatasync);
  OTHER(SYNC, real(fd));
}
