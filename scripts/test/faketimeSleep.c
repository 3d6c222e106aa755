// Loaded before libfaketime, whose clock_nanosleep is wrong where CLOCK_MONOTONIC is not faked:
// it takes the true time from the instant to wait for, and the kernel refuses what is left. So
// Python's time.sleep, from 3.11 on, ends in EINVAL (github.com/wolfcw/libfaketime/issues/426).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int Sleep(clockid_t, int, const struct timespec *, struct timespec *);

static int monotonic_is_true(void) {
  const char *word = getenv("FAKETIME_DONT_FAKE_MONOTONIC");
  return word != NULL && strcmp(word, "1") == 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
  if (clock == CLOCK_MONOTONIC && monotonic_is_true()) {
    return syscall(SYS_clock_nanosleep, clock, flags, time, left) == 0 ? 0 : errno;
  }
  Sleep *next = (Sleep *)dlsym(RTLD_NEXT, "clock_nanosleep");
  return next(clock, flags, time, left);
}
