/* SPDX-License-Identifier: Apache-2.0 */
/* Dates of times since 1970, in UTC. */
#include <stdbool.h>
#include <time.h>

enum { DAY = 86400, HOUR = 3600, MINUTE = 60, FIRST_YEAR = 1970, THURSDAY = 4 };

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

struct tm *gmtime_r(const time_t *restrict time, struct tm *restrict parts)
{
    static const char lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int days = (int)(*time / DAY), rest = (int)(*time % DAY), year = FIRST_YEAR, month = 0;

    if (rest < 0) {
        rest += DAY;
        days--;
    }
    *parts = (struct tm){
        .tm_sec = rest % MINUTE,
        .tm_min = rest % HOUR / MINUTE,
        .tm_hour = rest / HOUR,
        .tm_wday = ((THURSDAY + days) % 7 + 7) % 7,
    };
    for (; days < 0; year--)
        days += 365 + is_leap(year - 1);
    for (; days >= 365 + is_leap(year); year++)
        days -= 365 + is_leap(year);
    parts->tm_year = year - 1900;
    parts->tm_yday = days;
    for (;; month++) {
        int length = lengths[month] + (month == 1 && is_leap(year));

        if (days < length)
            break;
        days -= length;
    }
    parts->tm_mon = month;
    parts->tm_mday = days + 1;
    return parts;
}

struct tm *localtime_r(const time_t *restrict time, struct tm *restrict parts)
{
    return gmtime_r(time, parts);
}

/* As everywhere, of the program, not of the thread. */
struct tm *gmtime(const time_t *time)
{
    static struct tm parts;

    return gmtime_r(time, &parts);
}

struct tm *localtime(const time_t *time)
{
    return gmtime(time);
}

double difftime(time_t end, time_t start)
{
    return (double)(end - start);
}
