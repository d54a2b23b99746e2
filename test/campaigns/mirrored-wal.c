/*
 * Preloaded into a Postgres server: after each successful fsync or fdatasync of a file of its write-ahead log, the folder
 * named by DAYBOOK_MIRROR has what the file contained when the sync began. That is what a power cut leaves for certain.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *name_of(int fd, char *path, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, size - 1);
  if (length < 0) return NULL;
  path[length] = 0;
  const char *folder = strstr(path, "/pg_wal/");
  return folder ? folder + strlen("/pg_wal/") : NULL;
}

static char *read_all(int fd, size_t *size) {
  struct stat stat;
  if (fstat(fd, &stat)) return NULL;
  char *bytes = malloc(stat.st_size);
  *size = 0;
  while (bytes && *size < (size_t)stat.st_size) {
    ssize_t count = pread(fd, bytes + *size, stat.st_size - *size, *size);
    if (count <= 0) break;
    *size += count;
  }
  return bytes;
}

static void keep(const char *name, const char *bytes, size_t size) {
  char temporary[4096], kept[4096];
  const char *folder = getenv("DAYBOOK_MIRROR");
  snprintf(temporary, sizeof temporary, "%s/%s.%d", folder, name, getpid());
  snprintf(kept, sizeof kept, "%s/%s", folder, name);
  int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) abort();
  for (size_t at = 0; at < size;) {
    ssize_t count = write(file, bytes + at, size - at);
    if (count <= 0) abort();
    at += count;
  }
  close(file);
  if (rename(temporary, kept)) abort();
}

static int mirrored(int fd, const char *function) {
  int (*next)(int) = dlsym(RTLD_NEXT, function);
  char path[4096];
  const char *name = getenv("DAYBOOK_MIRROR") ? name_of(fd, path, sizeof path) : NULL;
  size_t size = 0;
  char *bytes = name ? read_all(fd, &size) : NULL;
  int result = next(fd);
  if (bytes && result == 0) keep(name, bytes, size);
  free(bytes);
  return result;
}

int fsync(int fd) { return mirrored(fd, "fsync"); }
int fdatasync(int fd) { return mirrored(fd, "fdatasync"); }
