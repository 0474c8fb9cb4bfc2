/* Preloaded: makes a Fortran program's random draws the same in every run. gfortran seeds its
 * generator from the kernel, and programs add the time of day.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

struct array { /* the beginning of gfortran's descriptor */
    int32_t *values;
};

int getentropy(void *buffer, size_t length)
{
    memset(buffer, 1, length);
    return 0;
}

void _gfortran_date_and_time(char *date, char *time, char *zone, struct array *parts,
                             size_t date_length, size_t time_length, size_t zone_length);

void _gfortran_date_and_time(char *date, char *time, char *zone, struct array *parts,
                             size_t date_length, size_t time_length, size_t zone_length)
{
    if (date)
        memset(date, '0', date_length);
    if (time)
        memset(time, '0', time_length);
    if (zone)
        memset(zone, '0', zone_length);
    if (parts)
        memset(parts->values, 0, 8 * sizeof parts->values[0]);
}
