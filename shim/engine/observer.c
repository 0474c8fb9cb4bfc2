#include "engine/observer.h"

/* Set before there is a thread or a handler that reads it. */
static const struct sg_observer *observer;

void sg_observe(const struct sg_observer *given)
{
    observer = given;
}

void sg_observed_late(const struct sg_late *late)
{
    if (observer != NULL)
        observer->late(late);
}

void sg_observed_stall(const char *text)
{
    if (observer != NULL)
        observer->stall(text);
}

void sg_observed_mismatch(const char *text)
{
    if (observer != NULL)
        observer->mismatch(text);
}
