/*
 * Preloaded into a process: lets as many calls of fsync and fdatasync on its SQLite files fail with EIO as the file
 * named by DAYBOOK_FAILING_SYNC says. Each takes as many milliseconds longer as the file named by DAYBOOK_SLOW_SYNC says.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_ours(int fd) {
  char link[64], target[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, target, sizeof target - 1);
  if (length < 0) return 0;
  target[length] = 0;
  return strstr(target, ".db") != NULL;
}

static void delay(void) {
  const char *name = getenv("DAYBOOK_SLOW_SYNC");
  FILE *file = name ? fopen(name, "r") : NULL;
  if (!file) return;
  int ms = 0;
  if (fscanf(file, "%d", &ms) != 1) ms = 0;
  fclose(file);
  if (ms > 0) usleep(1000u * (unsigned)ms);
}

static int fails(void) {
  const char *name = getenv("DAYBOOK_FAILING_SYNC");
  FILE *file = name ? fopen(name, "r+") : NULL;
  if (!file) return 0;
  int left = 0;
  if (fscanf(file, "%d", &left) != 1) left = 0;
  if (left > 0) {
    rewind(file);
    fprintf(file, "%-10d", left - 1);
  }
  fclose(file);
  return left > 0;
}

#define WRAP(name)                                        \
  int name(int fd) {                                      \
    static int (*real)(int);                              \
    if (!real) real = dlsym(RTLD_NEXT, #name);            \
    if (!is_ours(fd)) return real(fd);                    \
    delay();                                              \
    if (!fails()) return real(fd);                        \
    errno = EIO;                                          \
    return -1;                                            \
  }

WRAP(fsync)
WRAP(fdatasync)
