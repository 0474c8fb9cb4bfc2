/* Stands for a UCX, and for a library that uses it through its symbol. */
unsigned ucp_worker_progress(void *worker);
unsigned second_ucx_turn(void);

unsigned ucp_worker_progress(void *worker)
{
    return worker == &second_ucx_turn ? 9 : 0;
}

unsigned second_ucx_turn(void)
{
    return ucp_worker_progress(&second_ucx_turn);
}
