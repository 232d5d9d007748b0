/* A clock that jumps: loaded before the C library, it shifts the wall clock by up
 * to ten years back and forth each time it is read. The monotonic clock goes on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*real)(clockid_t, struct timespec *);
    static unsigned reads;
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, time);
    if (clock == CLOCK_REALTIME && result == 0)
        time->tv_sec += (long)(reads++ * 7919 % 21 - 10) * 31557600;
    return result;
}
