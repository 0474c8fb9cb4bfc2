/* Signals from the adapter: the descriptor of rank 1's completion channel raises a real-time signal
 * for a write with immediate data exactly when its queue is armed for solicited completions and the
 * write is solicited.
 *
 * Real-time signals queue, so every signal is delivered and the final count includes any
 * unsolicited one. The last round raises a signal, so a late one of an earlier round is delivered
 * before it.
 */
#include "pair.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>

enum { WAIT_SECONDS = 60 };

static const struct {
    int arm, solicited, signals;
} rounds[] = {
    {1, 1, 1},            /* armed */
    {0, 1, 0},            /* one signal for each time it is armed */
    {0, 0, 0}, {1, 0, 0}, /* armed for solicited completions only */
    {0, 1, 1},            /* and still armed */
    {0, 1, 0}, {1, 1, 1},
};
enum { ROUNDS = sizeof rounds / sizeof rounds[0] };

static volatile sig_atomic_t raised, descriptor;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    raised++;
    descriptor = info->si_fd;
}

static void ask_for_signals(int fd)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    int number = SIGRTMIN + 4;

    REQUIRE(sigaction(number, &action, NULL) == 0);
    REQUIRE(fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, number) == 0);
    REQUIRE(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC | O_NONBLOCK) == 0);
}

static void take_events(struct pair *pair)
{
    struct ibv_cq *cq;
    void *context;

    while (ibv_get_cq_event(pair->channel, &cq, &context) == 0)
        ibv_ack_cq_events(cq, 1);
}

static void receive_round(struct pair *pair, int round, int expected)
{
    struct ibv_recv_wr request = {.wr_id = (uint64_t)round}, *bad;
    struct ibv_wc completion;
    time_t end = time(NULL) + WAIT_SECONDS;

    REQUIRE(ibv_post_recv(pair->queue_pair, &request, &bad) == 0);
    if (rounds[round].arm)
        REQUIRE(ibv_req_notify_cq(pair->receive_cq, 1) == 0);
    MUST(MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD));

    REQUIRE(pair_poll(pair->receive_cq, &completion, WAIT_SECONDS) == 1);
    REQUIRE(completion.status == IBV_WC_SUCCESS && completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM);
    REQUIRE(ntohl(completion.imm_data) == (uint32_t)round && pair->buffer[0] == round + 1);
    while (raised < expected && time(NULL) <= end)
        ;
    if (raised != expected)
        fprintf(stderr, "round %d: %d signals, not %d\n", round, (int)raised, expected);
    REQUIRE(raised == expected);
    take_events(pair);
}

static void write_round(struct pair *pair, int round)
{
    struct ibv_send_wr write = {
        .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
        .imm_data = htonl((uint32_t)round),
        .send_flags = rounds[round].solicited ? IBV_SEND_SOLICITED : 0,
        .wr.rdma = {pair->other.buffer, pair->other.rkey},
    };

    MUST(MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    pair->buffer[0] = (unsigned char)(round + 1);
    pair_request(pair, &write, 0, 1);
}

int main(void)
{
    struct pair pair;
    int expected = 0;

    pair_open(&pair);
    if (pair.rank == 1)
        ask_for_signals(pair.channel->fd);
    for (int round = 0; round < ROUNDS; round++) {
        expected += rounds[round].signals;
        if (pair.rank == 1)
            receive_round(&pair, round, expected);
        else
            write_round(&pair, round);
    }
    REQUIRE(pair.rank == 0 || descriptor == pair.channel->fd);
    pair_close(&pair);
    return 0;
}
