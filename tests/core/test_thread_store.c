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

    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, take, NULL), 0);
    pthread_join(thread, &own);
    return own;
}

static int visited;

static void visit(void *kept)
{
    visited += ((struct own *)kept)->value;
}

static void test_one_after_another(void)
{
    struct own *first = of_thread();

    CU_ASSERT_EQUAL(first->kept.number, 0);
    CU_ASSERT_EQUAL(ended, 1);
    CU_ASSERT_PTR_EQUAL(of_thread(), first);
    CU_ASSERT_EQUAL(first->value, 2);
    CU_ASSERT_EQUAL(ended, 1 + 2);
}

static void test_at_a_time(void)
{
    struct own *here = sg_thread_store_take(&store), *there;

    CU_ASSERT_EQUAL(here->kept.number, 0);
    there = of_thread();
    CU_ASSERT_PTR_NOT_EQUAL(there, here);
    CU_ASSERT_EQUAL(there->kept.number, 1);
    visited = 0;
    sg_thread_store_each(&store, visit);
    CU_ASSERT_EQUAL(visited, here->value + there->value);
    sg_thread_store_put_back(here);
    CU_ASSERT_PTR_EQUAL(of_thread(), here);
}

const struct unit_test unit_tests[] = {
    {"a thread has what one that has ended left", test_one_after_another},
    {"threads at a time have their own, and all can be visited", test_at_a_time},
    {NULL, NULL},
};
