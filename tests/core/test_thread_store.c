/* Tests storage that is kept for threads that come and go. */
#include "core/thread_store.h"
#include "lib/unit.h"

struct own {
    struct sg_thread_kept kept;
    int value;
};

static int ended;

static void count(struct sg_thread_kept *kept)
{
    ended += ((struct own *)(void *)kept)->value;
}

static struct sg_thread_store store = SG_THREAD_STORE(struct own, count);

/* Returns its own, which it leaves at its end. */
static void *take(void *unused)
{
    struct own *own = sg_thread_store_take(&store);

    own->value++;
    return own;
}

static struct own *of_thread(void)
{
    pthread_t thread;
    void *own;

    ASSERT(pthread_create(&thread, NULL, take, NULL) == 0);
    pthread_join(thread, &own);
    return own;
}

static int visited;

static void visit(void *kept)
{
    visited += ((struct own *)kept)->value;
}

TEST("a new thread reuses the storage of an ended one")
{
    struct own *first = of_thread();

    EXPECT(first->kept.number == 0, ended == 1, of_thread() == first, first->value == 2,
           ended == 1 + 2);
}

TEST("concurrent threads have separate storage, and all of it can be visited")
{
    struct own *here = sg_thread_store_take(&store), *there;

    EXPECT(here->kept.number == 0);
    there = of_thread();
    EXPECT(there != here, there->kept.number == 1);
    visited = 0;
    sg_thread_store_each(&store, visit);
    EXPECT(visited == here->value + there->value);
    sg_thread_store_put_back(here);
    EXPECT(of_thread() == here);
}
