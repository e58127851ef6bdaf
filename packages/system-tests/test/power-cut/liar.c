/*
 * Makes a lie of syncing, for a process that is started with this library in LD_PRELOAD. LIE says which calls of fsync and
 * fdatasync do nothing and succeed: those of all files, of regular files ("files"), of "directories"; or that all are done
 * some time after they have succeeded ("late").
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Microseconds from the success of a call to the call. */
static const useconds_t lateness = 200000;

typedef int (*sync_call)(int);

static void *sync_later(void *argument) {
  int file = (int)(long)argument;
  usleep(lateness);
  ((sync_call)dlsym(RTLD_NEXT, "fsync"))(file);
  close(file);
  return NULL;
}

static int sync_or_lie(const char *name, int file) {
  const char *lie = getenv("LIE");
  struct stat status;
  if (lie == NULL || fstat(file, &status) != 0) lie = "";
  if (strcmp(lie, "all") == 0) return 0;
  if (strcmp(lie, "files") == 0 && S_ISREG(status.st_mode)) return 0;
  if (strcmp(lie, "directories") == 0 && S_ISDIR(status.st_mode)) return 0;
  if (strcmp(lie, "late") == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, sync_later, (void *)(long)dup(file)) == 0) {
      pthread_detach(thread);
      return 0;
    }
  }
  return ((sync_call)dlsym(RTLD_NEXT, name))(file);
}

int fsync(int file) { return sync_or_lie("fsync", file); }

int fdatasync(int file) { return sync_or_lie("fdatasync", file); }
