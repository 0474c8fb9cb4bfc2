/* Decides whether slices carry a communicator's messages, and checks the arguments of their calls
 * (sliced.h). All ranks agree in MPI_Init, or after the communicator's creation. If the program
 * imports a function that slices do not carry, or another tool is in the way, MPICH carries all
 * messages.
 */
#include "bcs/live/sliced.h"

#include "bcs/live/messages.h"
#include "core/clock.h"
#include "core/imports.h"
#include "intercept/comm_setup.h"
#include "internode/internode.h"
#include "intranode/memory.h"
#include "mpi/gpu_buffers.h"
#include "mpi/operands.h"
#include "profile/comms.h"
#include "profile/moved.h"
#include "progress/progress.h"
#include "rule/rule.h"
#include "runtime/settings.h"
#include "wait/wait.h"
#include "wait/yielding.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

/* NULL: MPICH carries its messages. */
static const struct sg_comm *find(sg_word handle)
{
    const struct sg_comm *comm = sg_comm_find((MPI_Comm)handle);

    return comm != NULL && comm->is_sliced ? comm : NULL;
}

/* True if the peer is a rank that messages go to or come from. */
static bool is_member(const struct sg_comm *comm, sg_word rank)
{
    return comm != NULL && (int)rank >= 0 && (int)rank < comm->size;
}

static bool is_source(const struct sg_comm *comm, sg_word rank)
{
    return is_member(comm, rank) || (comm != NULL && (int)rank == MPI_ANY_SOURCE);
}

/* ---- sends and receives ---- */

static bool is_synchronous(enum sg_function function)
{
    return function == SG_FUNCTION_Ssend || function == SG_FUNCTION_Ssend_c ||
           function == SG_FUNCTION_Issend || function == SG_FUNCTION_Issend_c;
}

/* Returns the nth operand with the nth peer and tag. */
static struct sg_sliced_side side_of(enum sg_function function, const sg_word *words, int n,
                                     bool takes_part)
{
    const struct sg_argument_places *at = &sg_places[function];

    return (struct sg_sliced_side){
        (void *)words[at->operands[n].buffer],
        sg_function_amount(function, words[at->operands[n].amount]),
        (MPI_Datatype)words[at->operands[n].type],
        (int)words[at->peers[n]],
        (int)words[at->tags[n]],
        takes_part,
    };
}

/* Both directions. MPICH has carried out one that is not with a rank. */
static int exchange(enum sg_function function, const struct sg_comm *comm, const sg_word *words,
                    bool goes, bool comes)
{
    struct sg_sliced_side sends = side_of(function, words, 0, goes);
    struct sg_sliced_side receives = side_of(function, words, 1, comes);
    MPI_Status *status = (MPI_Status *)words[sg_places[function].status];

    if (function == SG_FUNCTION_Sendrecv || function == SG_FUNCTION_Sendrecv_c)
        return sg_sliced_exchange(comm, &sends, &receives, status);
    return sg_sliced_replace(comm, &sends, receives.peer, receives.tag, comes, status);
}

static int move(enum sg_function function, const struct sg_comm *comm, const sg_word *words)
{
    const struct sg_argument_places *at = &sg_places[function];
    bool sends = sg_functions[function].flow == SG_FLOW_SEND;
    struct sg_sliced_side side = side_of(function, words, 0, true);
    MPI_Request *request;

    if (at->request == SG_NO_WORD)
        return sends ? sg_sliced_send(comm, &side, is_synchronous(function))
                     : sg_sliced_receive(comm, &side, (MPI_Status *)words[at->status]);
    /* MPICH's request from the check is complete, and is replaced. */
    request = (MPI_Request *)words[at->request];
    sg_real.Request_free(request);
    return sg_sliced_post(comm, &side, sends, is_synchronous(function), request);
}

/* MPICH's own function, with MPI_PROC_NULL for the rank of a message that slices carry, finds
 * errors in the other arguments. */
static bool carries_message(enum sg_function function, const sg_word *words, int *error)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    const struct sg_argument_places *at = &sg_places[function];
    const struct sg_comm *comm = find(words[at->comm]);
    bool exchanges = facts->flow == SG_FLOW_EXCHANGE;
    bool goes = facts->flow != SG_FLOW_RECEIVE && is_member(comm, words[at->peers[0]]);
    bool comes = facts->flow != SG_FLOW_SEND && is_source(comm, words[at->peers[exchanges]]);
    sg_word checked[SG_ARGUMENTS_MAX];
    MPI_Status nothing;

    if (comm == NULL)
        return false;
    memcpy(checked, words, facts->words * sizeof *words);
    if (goes)
        checked[at->peers[0]] = MPI_PROC_NULL;
    if (comes)
        checked[at->peers[exchanges]] = MPI_PROC_NULL;
    if (comes && at->status != SG_NO_WORD)
        checked[at->status] = (sg_word)&nothing;
    *error = sg_function_call(function, checked);
    if (*error == MPI_SUCCESS && exchanges)
        *error = exchange(function, comm, words, goes, comes);
    else if (*error == MPI_SUCCESS && (goes || comes))
        *error = move(function, comm, words);
    return true;
}

/* ---- probes ---- */

static bool carries_probe(const sg_word *words, int *error)
{
    const struct sg_comm *comm = find(words[2]);
    MPI_Status *status = (MPI_Status *)words[3], nothing;
    int flag;

    if (comm == NULL)
        return false;
    if (!is_source(comm, words[0])) {
        /* Returns at once. */
        *error = sg_real.Iprobe((int)words[0], (int)words[1], (MPI_Comm)words[2], &flag, status);
        return true;
    }
    *error = sg_real.Iprobe(MPI_PROC_NULL, (int)words[1], (MPI_Comm)words[2], &flag, &nothing);
    if (*error == MPI_SUCCESS)
        sg_sliced_probe(comm, (int)words[0], (int)words[1], status);
    return true;
}

static bool carries_iprobe(const sg_word *words, int *error)
{
    const struct sg_comm *comm = find(words[2]);
    MPI_Status *status = (MPI_Status *)words[4], nothing;
    bool comes = is_source(comm, words[0]);

    if (comm == NULL)
        return false;
    *error = sg_real.Iprobe(comes ? MPI_PROC_NULL : (int)words[0], (int)words[1],
                            (MPI_Comm)words[2], (int *)words[3], comes ? &nothing : status);
    if (*error == MPI_SUCCESS && comes)
        *(int *)words[3] = sg_sliced_look(comm, (int)words[0], (int)words[1], status);
    return true;
}

bool sg_sliced_carries(enum sg_function function, const sg_word *words, int *error)
{
    if (function == SG_FUNCTION_Probe)
        return carries_probe(words, error);
    if (function == SG_FUNCTION_Iprobe)
        return carries_iprobe(words, error);
    return carries_message(function, words, error);
}

/* ---- functions that are not carried ---- */

bool sg_sliced_refuses(enum sg_function function, const sg_word *words, int *error)
{
    const struct sg_function_facts *facts = &sg_functions[function];

    for (int i = 0; i < facts->words; i++) {
        const struct sg_comm *comm =
            facts->arguments[i] == SG_ARGUMENT_COMM ? find(words[i]) : NULL;

        if (comm == NULL)
            continue;
        sg_sliced_say_refused(comm, facts->name);
        sg_real.Comm_call_errhandler((MPI_Comm)words[i], MPI_ERR_UNSUPPORTED_OPERATION);
        *error = MPI_ERR_UNSUPPORTED_OPERATION;
        return true;
    }
    return false;
}

/* ---- statuses ---- */

static int number_of(const struct sg_function_facts *facts, bool is_f08, const sg_word *words)
{
    for (int i = 0; i < facts->words; i++) {
        if (facts->arguments[i] == SG_ARGUMENT_DONE)
            return *(const int *)words[i];
    }
    return is_f08 ? *(const int *)words[0] : (int)words[0];
}

static void mend(enum sg_function function, bool is_f08, const sg_word *words)
{
    const struct sg_function_facts *facts = &sg_functions[function];
    bool was_cut = sg_sliced_take_cut();

    for (int i = 0; was_cut && i < facts->words; i++) {
        MPI_Status *statuses = (MPI_Status *)words[i];

        if (facts->arguments[i] != SG_ARGUMENT_STATUSES || statuses == MPI_STATUSES_IGNORE)
            continue;
        for (int at = 0; at < number_of(facts, is_f08, words); at++) {
            int class = MPI_SUCCESS;

            sg_real.Error_class(statuses[at].MPI_ERROR, &class);
            if (class == MPI_ERR_OTHER)
                statuses[at].MPI_ERROR = MPI_ERR_TRUNCATE;
        }
    }
}

/* ---- after other functions ---- */

void sg_sliced_behind(enum sg_function function, bool is_f08, const sg_word *words, int error)
{
    const struct sg_function_facts *facts = &sg_functions[function];

    if (error != MPI_SUCCESS) {
        mend(function, is_f08, words);
        return;
    }
    /* Not after a nonblocking one: messages might go before all ranks know of the communicator. */
    for (int i = 0; facts->mode == SG_MODE_WAIT && i < facts->words; i++) {
        if (facts->arguments[i] == SG_ARGUMENT_NEW && facts->class == SG_CLASS_COMMUNICATOR)
            sg_sliced_begin(*(const MPI_Comm *)words[i]);
    }
}

/* ---- whether the program's imports allow it ---- */

#define NAME_BYTES 64

/* In small letters, without "mpi_". Functions that start persistent messages are missing: those
 * that make them are listed. */
static const char *const excluded[] = {
    "send_init",         "ssend_init", "rsend_init", "bsend_init", "recv_init", "psend_init",
    "precv_init",        "bsend",      "ibsend",     "mprobe",     "improbe",   "isendrecv",
    "isendrecv_replace", "cancel",
};

struct function {
    char name[NAME_BYTES]; /* in small letters, without "mpi_" and suffixes */
    bool is_profiling, is_f08;
};

static bool cut(char *name, const char *suffix)
{
    size_t length = strlen(name), cut_length = strlen(suffix);

    if (length <= cut_length || strcmp(name + length - cut_length, suffix) != 0)
        return false;
    name[length - cut_length] = '\0';
    return true;
}

/* False: not a function of MPI. */
static bool parse(const char *symbol, struct function *out)
{
    char all[NAME_BYTES] = "";
    const char *name = all;

    if (strlen(symbol) >= sizeof all)
        return false;
    for (size_t i = 0; symbol[i] != '\0'; i++)
        all[i] = (char)tolower((unsigned char)symbol[i]);
    *out = (struct function){.is_profiling = name[0] == 'p'};
    name += out->is_profiling;
    if (strncmp(name, "mpi_", strlen("mpi_")) != 0)
        return false;
    snprintf(out->name, sizeof out->name, "%s", name + strlen("mpi_"));
    while (cut(out->name, "_"))
        ;
    cut(out->name, "_large");
    out->is_f08 = cut(out->name, "_f08ts");
    out->is_f08 = cut(out->name, "_f08") || out->is_f08;
    cut(out->name, "_c");
    return true;
}

static bool is_excluded(const char *name)
{
    for (size_t i = 0; i < sizeof excluded / sizeof *excluded; i++) {
        if (strcmp(name, excluded[i]) == 0)
            return true;
    }
    return false;
}

static bool is_carried(const char *name)
{
    for (int i = 0; i < SG_FUNCTION_COUNT; i++) {
        if (sg_functions[i].is_sliced &&
            strcasecmp(name, sg_functions[i].name + strlen("MPI_")) == 0)
            return true;
    }
    return false;
}

/* True for a function that slices do not carry, by its symbol in C, mpif.h or Fortran 2008; and for
 * a profiling name (PMPI_*) of one that they do, whose calls would not be seen. */
static bool sg_sliced_is_excluded(const char *symbol)
{
    struct function function;

    if (!parse(symbol, &function))
        return false;
    /* MPICH's probes for Fortran 2008 call the profiling names. */
    if (function.is_profiling || (function.is_f08 && strstr(function.name, "probe") != NULL))
        return is_excluded(function.name) || is_carried(function.name);
    return is_excluded(function.name);
}

/* MPI's own libraries and stagger's. */
static bool is_left_out(const char *object)
{
    return strncmp(object, "libmpi", strlen("libmpi")) == 0 ||
           strncmp(object, "libpmpi", strlen("libpmpi")) == 0 ||
           strncmp(object, "libstagger", strlen("libstagger")) == 0;
}

/* Returns the first carried function whose wrapper the program does not call, or that has another
 * tool's behind it; NULL: none. */
static const char *find_tool(void)
{
    Dl_info own, found;

    if (dladdr(&sg_sliced_on, &own) == 0)
        return sg_functions[SG_FUNCTION_Send].name;
    for (int i = 0; i < SG_FUNCTION_COUNT; i++) {
        const char *name = sg_functions[i].name;
        void *called, *next;

        if (!sg_functions[i].is_sliced)
            continue;
        called = dlsym(RTLD_DEFAULT, name);
        next = sg_real_find(name);
        if ((called != NULL && dladdr(called, &found) != 0 && found.dli_fbase != own.dli_fbase) ||
            (next != NULL && !sg_real_has(next)))
            return name;
    }
    return NULL;
}

/* False: why has the reason. */
static bool sg_sliced_can_carry(char *why, size_t why_bytes)
{
    struct sg_import import = {.object = ""};
    const char *tool = find_tool();

    if (tool != NULL)
        snprintf(why, why_bytes, "another tool wraps %s", tool);
    else if (sg_imports_find(is_left_out, sg_sliced_is_excluded, &import))
        snprintf(why, why_bytes, "%s may call %s", import.object, import.symbol);
    else
        return true;
    return false;
}

/* ---- when slices carry messages ----
 *
 * All ranks agree in MPI_Init, and those of a communicator after its creation; otherwise MPICH
 * carries the messages. For MPI_COMM_WORLD one line says why.
 */

#define WHY_BYTES 640
#define PATIENCE_SLICES 64 /* without progress: the rest is never received */
/* MPI_Comm_free may have attribute callbacks to call, which run late if it stops waiting. */
#define PATIENCE_FREED_NS UINT64_C(1000000000)
/* Between machines: longer than an adapter retransmits before it reports an error. */
#define PATIENCE_BETWEEN_NS UINT64_C(10000000000)

static MPI_Comm self = MPI_COMM_NULL; /* for messages of the process to itself */

/* ---- conditions ---- */

/* Conditions on the process, for any communicator. False: why has the reason. */
static __attribute__((noinline)) bool is_possible(char *why)
{
    int level = MPI_THREAD_MULTIPLE;

    sg_real.Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE)
        snprintf(why, WHY_BYTES, "threads may call MPI concurrently (MPI_THREAD_MULTIPLE)");
    else if (sg_device_look())
        snprintf(why, WHY_BYTES, "buffers may be in GPU memory (%s)", sg_device_driver());
    else if (sg_real.x_Grequest_start == NULL)
        snprintf(why, WHY_BYTES, "this MPI lacks MPIX_Grequest_start");
    else
        return sg_sliced_can_carry(why, WHY_BYTES);
    return false;
}

static bool has_thread(int rule, bool between_machines)
{
    return sg_progress_asked(sg_ruleset_choice(sg_process.rules, rule), between_machines) ==
               SG_PROGRESS_THREAD &&
           sg_progress_comes(SG_PROGRESS_THREAD);
}

struct extent {
    int nodes, machines, most_ranks;
};

/* Nodes and machines are numbered from 0. */
static struct extent find_extent(void)
{
    struct extent extent = {0};

    for (int rank = 0; rank < sg_process.size; rank++) {
        int node = sg_placement_node(rank), machine = sg_placement_machine(rank);
        int ranks = sg_placement_node_size(node, sg_process.size);

        extent.nodes = node + 1 > extent.nodes ? node + 1 : extent.nodes;
        extent.machines = machine + 1 > extent.machines ? machine + 1 : extent.machines;
        extent.most_ranks = ranks > extent.most_ranks ? ranks : extent.most_ranks;
    }
    return extent;
}

/* Conditions on MPI_COMM_WORLD. False: why has the reason. */
static bool is_possible_for_all(int rule, char *why)
{
    struct extent extent = find_extent();
    bool between = extent.machines > 1;

    if (between && sg_rdma_ops() == NULL)
        snprintf(why, WHY_BYTES, "MPI_COMM_WORLD spans several machines without RDMA");
    else if (extent.nodes < 2)
        snprintf(why, WHY_BYTES,
                 "MPI_COMM_WORLD is on one node (STAGGER_RANKS_PER_NODE can split it)");
    else if (extent.nodes > SG_MESSAGES_ENDPOINTS_MAX || extent.most_ranks > SG_MESSAGES_LOCALS_MAX)
        snprintf(why, WHY_BYTES, "MPI_COMM_WORLD spans more than %d nodes, or %d ranks on a node",
                 SG_MESSAGES_ENDPOINTS_MAX, SG_MESSAGES_LOCALS_MAX);
    else if (between && extent.most_ranks > sg_process.config.verbs_senders)
        snprintf(why, WHY_BYTES, "a node has more ranks than STAGGER_VERBS_SENDERS=%d",
                 sg_process.config.verbs_senders);
    else if (!has_thread(rule, between))
        snprintf(why, WHY_BYTES, "it requires progress=thread");
    else
        return true;
    return false;
}

/* Collective. If any rank cannot, the first such rank logs why. */
static bool agree(bool is_here, const char *why)
{
    int first = -1;

    if (sg_exchange_agree(&sg_process.exchange, is_here, &first) != SG_OK)
        return false;
    if (first == sg_process.rank)
        sg_log("p2p=bcs: %s; MPICH carries the messages", why);
    return first < 0;
}

/* ---- MPI_Init ---- */

static bool open_bytes(void)
{
    if (sg_yielding_dup(MPI_COMM_SELF, &self) != MPI_SUCCESS)
        return false;
    sg_real.Comm_set_errhandler(self, MPI_ERRORS_RETURN);
    sg_bytes_start(self);
    return true;
}

static void close_bytes(void)
{
    if (self != MPI_COMM_NULL)
        sg_real.Comm_free(&self);
}

/* The same on all ranks from here on. */
static bool may_carry;

int sg_sliced_choose(void)
{
    char why[WHY_BYTES] = "";
    bool possible;
    int rule;

    may_carry = false;
    if (!sg_ruleset_has_messages(sg_process.rules))
        return -1;
    possible = is_possible(why);
    if (!agree(possible, why))
        return -1;
    may_carry = true;
    rule = sg_ruleset_messages(sg_process.rules, "MPI_COMM_WORLD", sg_process.size);
    if (rule < 0)
        return -1;
    possible = is_possible_for_all(rule, why);
    return agree(possible, why) ? rule : -1;
}

static bool is_named(const struct sg_choice *choice, const char *parameter)
{
    int index = sg_parameter_find(choice->algorithm, parameter);

    return index >= 0 && choice->parameters[index] > 0;
}

static bool is_ready(const struct sg_comm *comm)
{
    return comm->internode != NULL && sg_messages_are_carried(comm->internode);
}

/* Call when all its ranks are ready. */
static void begin(struct sg_comm *comm)
{
    comm->is_rendezvous =
        is_named(sg_ruleset_choice(sg_process.rules, comm->messages_rule), "send");
    sg_messages_begin(comm->internode);
    comm->is_sliced = true;
}

void sg_sliced_start(void)
{
    struct sg_comm *world = sg_comm_find(MPI_COMM_WORLD);

    if (!may_carry)
        return;
    if (!agree(open_bytes(), "cannot make its communicator")) {
        close_bytes();
        return;
    }
    sg_places_find();
    atomic_store(&sg_sliced_on, true);
    if (world->messages_rule >= 0 &&
        agree(is_ready(world), sg_rdma_ops() != NULL ? "its connections or memory are missing"
                                                     : "its shared memory is missing"))
        begin(world);
}

/* ---- other communicators ---- */

static bool is_complete(MPI_Request *request)
{
    int done = 0;

    sg_progress_poll();
    return sg_real.Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done;
}

static void complete(MPI_Request request)
{
    struct sg_wait wait = {0};

    while (!is_complete(&request))
        sg_wait_brief(&wait);
}

static uint64_t patience_ns(const struct sg_comm *comm)
{
    const struct sg_choice *choice = sg_ruleset_choice(sg_process.rules, comm->messages_rule);
    uint64_t ns = (uint64_t)choice->parameters[sg_parameter_find(choice->algorithm, "slice")] *
                  1000u * PATIENCE_SLICES;
    uint64_t least_ns = sg_internode_is_linked(comm->internode) ? PATIENCE_BETWEEN_NS : 0;

    return ns > least_ns ? ns : least_ns;
}

/* Time without progress on this rank. */
struct quiet {
    uint64_t steps, ns, looked_ns;
};

/* A process that was stopped between two looks, or whose peers were, could not see progress: a look
 * counts a slice at most. */
static bool is_still_patient(struct quiet *quiet, uint64_t steps, uint64_t patience_ns)
{
    uint64_t now_ns = sg_clock_ns(), passed_ns = now_ns - quiet->looked_ns;
    uint64_t most_ns = patience_ns / PATIENCE_SLICES;

    quiet->ns += passed_ns < most_ns ? passed_ns : most_ns;
    if (steps != quiet->steps)
        quiet->ns = 0;
    quiet->steps = steps;
    quiet->looked_ns = now_ns;
    return quiet->ns < patience_ns;
}

/* Ends a communicator's messages, in rounds in which the ranks exchange what they have left. The
 * first begins when a rank frees it; once all have, no rank posts any more. */
enum { PENDING, MOVING, FLAGS };
struct ending {
    MPI_Comm handle;
    struct sg_comm *comm;
    struct quiet quiet;
    MPI_Request request;
    int own[FLAGS], all[FLAGS];
    struct ending *next;
};

static struct ending *endings; /* of communicators that this rank has freed, and others have not */

static void begin_round(struct ending *ending)
{
    struct sg_comm *comm = ending->comm;
    uint64_t steps = 0;

    ending->own[PENDING] = !sg_messages_are_over(comm->internode, &steps);
    ending->own[MOVING] = is_still_patient(&ending->quiet, steps, patience_ns(comm));
    if (sg_real.Iallreduce(ending->own, ending->all, FLAGS, MPI_INT, MPI_MAX, ending->handle,
                           &ending->request) != MPI_SUCCESS) {
        ending->request = MPI_REQUEST_NULL;
        ending->all[PENDING] = 0;
    }
}

/* True: the messages have ended. */
static bool advance(struct ending *ending)
{
    if (!is_complete(&ending->request))
        return false;
    if (ending->all[PENDING] && ending->all[MOVING]) {
        begin_round(ending);
        return false;
    }
    ending->comm->is_sliced = false;
    sg_messages_stop(ending->comm->internode);
    return true;
}

/* Called from time to time. An attribute's callback may free other communicators, so the walk
 * restarts after each. */
static void end_freed(void)
{
    for (struct ending **link = &endings, *ending; (ending = *link) != NULL;) {
        if (!advance(ending)) {
            link = &ending->next;
            continue;
        }
        *link = ending->next;
        sg_comm_leave(ending->handle);
        sg_profile_comm_forget(ending->handle);
        sg_real.Comm_free(&ending->handle);
        free(ending);
        link = &endings;
    }
}

bool sg_sliced_end(MPI_Comm handle, bool is_awaited)
{
    struct ending first = {.handle = handle, .quiet.looked_ns = sg_clock_ns()}, *ending = &first;
    struct sg_wait wait = {0};

    if (!sg_sliced_is_on() || handle == MPI_COMM_NULL || handle == MPI_COMM_WORLD)
        return true;
    end_freed();
    first.comm = sg_comm_find(handle);
    if (first.comm == NULL || !first.comm->is_sliced)
        return true;
    /* Between machines MPI_Comm_free waits for others in any case (sg_comm_leave). */
    if (!is_awaited && !sg_internode_is_linked(first.comm->internode)) {
        ending = malloc(sizeof *ending);
        if (ending == NULL)
            ending = &first;
        else
            *ending = first;
    }
    begin_round(ending);
    while (!advance(ending)) {
        if (ending != &first && sg_clock_ns() - first.quiet.looked_ns > PATIENCE_FREED_NS) {
            ending->next = endings;
            endings = ending;
            return false;
        }
        sg_wait_brief(&wait);
    }
    if (ending != &first)
        free(ending);
    return true;
}

/* MPICH carries the messages, without a log line, if this rank cannot: most programs have
 * communicators inside a node, and other reasons have lines of their own. */
void sg_sliced_begin(MPI_Comm handle)
{
    int size = 0, is_inter = 1, own, all = 0, rule;
    struct sg_comm *comm;

    if (handle == MPI_COMM_NULL || !sg_sliced_is_on())
        return;
    end_freed();
    sg_real.Comm_test_inter(handle, &is_inter);
    sg_real.Comm_size(handle, &size);
    rule = is_inter || size < 2 ? -1 : sg_ruleset_messages(sg_process.rules, "", size);
    if (rule < 0)
        return;
    comm = sg_comm_set_up(handle, rule);
    own = comm != NULL && is_ready(comm) &&
          has_thread(rule, sg_internode_is_linked(comm->internode)) && !sg_device_look();
    if (sg_yielding_allreduce(&own, &all, 1, MPI_INT, MPI_MIN, handle) == MPI_SUCCESS && all)
        begin(comm);
}

/* ---- the end ---- */

static void give_up(struct sg_comm *comm)
{
    if (!comm->is_sliced)
        return;
    comm->is_sliced = false;
    sg_messages_stop(comm->internode);
}

void sg_sliced_stop(void)
{
    MPI_Request request;

    if (!atomic_load(&sg_sliced_on))
        return;
    for (struct sg_wait wait = {0}; endings != NULL; end_freed())
        sg_wait_brief(&wait);
    /* Others may still wait for messages from this rank, or for its part in collectives. */
    if (sg_real.Ibarrier(sg_process.world, &request) == MPI_SUCCESS)
        complete(request);
    atomic_store(&sg_sliced_on, false);
    sg_comm_each(give_up);
    close_bytes();
}
