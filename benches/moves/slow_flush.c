/* Makes every flush to the disk take a millisecond longer, as on a real disk. To be preloaded into PostgreSQL:
 * cc -O2 -shared -fPIC -o slow_flush.so slow_flush.c */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

/* Sleeps after the real call, and returns its result. */
static int delayed(int result)
{
    int number = errno;
    struct timespec rest = { .tv_sec = 0, .tv_nsec = 1000000 };
    while (nanosleep(&rest, &rest) == -1 && errno == EINTR) {
    }
    errno = number;
    return result;
}

int fdatasync(int file)
{
    static int (*real)(int);
    if (real == NULL)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    return delayed(real(file));
}

int fsync(int file)
{
    static int (*real)(int);
    if (real == NULL)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    return delayed(real(file));
}

int sync_file_range(int file, off64_t from, off64_t length, unsigned int flags)
{
    static int (*real)(int, off64_t, off64_t, unsigned int);
    if (real == NULL)
        real = (int (*)(int, off64_t, off64_t, unsigned int))dlsym(RTLD_NEXT, "sync_file_range");
    return delayed(real(file, from, length, flags));
}
