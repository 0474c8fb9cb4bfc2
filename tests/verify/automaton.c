#include "verify/automaton.h"

#include "verify/check.h"
#include "verify/snapshot.h"

#include <stdlib.h>
#include <string.h>

static uint32_t sg_keys_number(struct sg_keys *keys, uint64_t key);

static const struct sg_explore_view view = {.reorder = true, .always = true};

/* An endpoint's state except its piece of the arena; any padding is zero. */
struct local {
    uint64_t finished, ahead_ns;
    uint64_t timer_ns[SG_TIMERS];
    uint64_t watched[SG_TIMERS];
    uint32_t cell[SG_TIMERS];
    struct sg_value operand;
    int32_t process_state, next;
    uint32_t calls, completes;
    uint8_t known[SG_AUTOMATON_NODES_MAX]; /* number of calls, by endpoint */
    uint8_t timer_set[SG_TIMERS], watch_set[SG_TIMERS], watch_solicited[SG_TIMERS];
    uint8_t endpoint, has_operand;
    uint8_t unused[6];
};

static void join(uint8_t *known, const uint8_t *other)
{
    for (int i = 0; i < SG_AUTOMATON_NODES_MAX; i++) {
        if (known[i] < other[i])
            known[i] = other[i];
    }
}

/* ---- an endpoint's state, as bytes ----------------------------------------------------------- */

/* An endpoint's buffers are contiguous in the arena, up to the next endpoint's. */
static unsigned char *piece_of(const struct sg_explore_world *world, int32_t e)
{
    return e < world->endpoints_count ? world->endpoints[e].host.state - SG_EXPLORE_GUARD_BYTES
                                      : world->arena + world->arena_bytes;
}

static uint32_t piece_bytes(const struct sg_explore_world *world, int32_t e)
{
    return (uint32_t)(piece_of(world, e + 1) - piece_of(world, e));
}

static void take_down(const struct sg_explore_world *world, int32_t e, const uint8_t *known,
                      struct local *local)
{
    const struct sg_explore_endpoint *endpoint = &world->endpoints[e];

    memset(local, 0, sizeof *local);
    local->finished = endpoint->finished;
    local->ahead_ns = sg_explore_clock_of(world, endpoint);
    for (int id = 0; id < SG_TIMERS; id++) {
        const struct sg_host_watch *watch = &endpoint->watches[id];

        local->timer_set[id] = endpoint->timer_ns[id] != SG_TIMER_UNSET;
        if (local->timer_set[id])
            local->timer_ns[id] = endpoint->timer_ns[id] - endpoint->ahead_ns;
        local->watch_set[id] = watch->set;
        if (!watch->set)
            continue;
        local->watched[id] = watch->value;
        local->cell[id] = watch->cell;
        local->watch_solicited[id] = watch->solicited;
    }
    local->has_operand = endpoint->payload.operand != NULL;
    if (local->has_operand)
        local->operand = endpoint->operand;
    local->process_state = world->processes[e].state;
    local->next = world->processes[e].next;
    local->calls = endpoint->calls;
    local->completes = endpoint->completes;
    local->endpoint = (uint8_t)e;
    memcpy(local->known, known, sizeof local->known);
    local->known[e] = (uint8_t)endpoint->calls;
}

/* Statistics counters do not affect behaviour, so states that differ only there are equal. */
static void clear_counters(struct sg_explore_endpoint *endpoint)
{
    struct sg_algo_head *head = (struct sg_algo_head *)endpoint->host.state;

    head->early = head->late = head->stalls = head->copies = head->forwarded = 0;
}

static uint32_t save(struct sg_automaton *automaton, int32_t e, const uint8_t *known)
{
    struct sg_explore_world *world = automaton->world;
    uint32_t piece = piece_bytes(world, e), bytes = (uint32_t)sizeof(struct local) + piece;
    unsigned char *text =
        sg_intern_room(automaton->text, &automaton->text_capacity, bytes, sizeof *text);
    struct local local;

    if (text == NULL)
        return SG_INTERN_NONE;
    automaton->text = text;
    clear_counters(&world->endpoints[e]);
    take_down(world, e, known, &local);
    memcpy(text, &local, sizeof local);
    memcpy(text + sizeof local, piece_of(world, e), piece);
    return sg_intern_add(&automaton->locals, text, bytes);
}

static void put_back(struct sg_explore_world *world, const struct local *local)
{
    struct sg_explore_endpoint *endpoint = &world->endpoints[local->endpoint];
    struct sg_explore_process *process = &world->processes[local->endpoint];

    endpoint->finished = local->finished;
    endpoint->ahead_ns = local->ahead_ns;
    for (int id = 0; id < SG_TIMERS; id++) {
        endpoint->timer_ns[id] =
            local->timer_set[id] ? local->timer_ns[id] + local->ahead_ns : SG_TIMER_UNSET;
        endpoint->watches[id] = (struct sg_host_watch){
            local->watched[id], local->cell[id], local->watch_set[id], local->watch_solicited[id]};
    }
    endpoint->operand = local->operand;
    endpoint->payload.operand = local->has_operand ? &endpoint->operand : NULL;
    endpoint->calls = local->calls;
    endpoint->completes = local->completes;
    endpoint->changed = true;
    process->state = local->process_state;
    process->next = local->next;
    process->comm = 0;
}

static void restore(struct sg_automaton *automaton, uint32_t number, struct local *local)
{
    struct sg_explore_world *world = automaton->world;
    const unsigned char *text = sg_intern_at(&automaton->locals, number);

    memcpy(local, text, sizeof *local);
    memcpy(piece_of(world, local->endpoint), text + sizeof *local,
           piece_bytes(world, local->endpoint));
    put_back(world, local);
}

static void clear_flights(struct sg_explore_world *world)
{
    world->live_count = 0;
    world->violation[0] = '\0';
    memset(world->in_flight, 0,
           (size_t)(world->endpoints_count * world->scenario->nodes) * sizeof *world->in_flight);
}

void sg_automaton_load(struct sg_automaton *automaton, const uint32_t *locals)
{
    struct local local;

    clear_flights(automaton->world);
    for (int32_t e = 0; e < automaton->world->endpoints_count; e++)
        restore(automaton, locals[e], &local);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The endpoint's own letters that are possible in the world's present state. */
static uint16_t own_letters(const struct sg_automaton *automaton, int32_t e)
{
    static struct sg_explore_step steps[SG_EXPLORE_STEPS_MAX];
    uint32_t count = sg_explore_steps(automaton->world, &view, steps);
    uint16_t own = 0;

    count += sg_explore_timers(automaton->world, &view, steps + count);
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i].index != e)
            continue;
        if (steps[i].kind == SG_STEP_CALL)
            own |= 1u << SG_LETTER_CALL;
        else if (steps[i].kind == SG_STEP_DRAIN)
            own |= 1u << SG_LETTER_DRAIN;
        else if (steps[i].kind == SG_STEP_NOTICE)
            own |= (uint16_t)(1u << (SG_LETTER_NOTICE + steps[i].id));
        else
            own |= (uint16_t)(1u << (SG_LETTER_FIRE + steps[i].id));
    }
    return own;
}

static uint32_t number_local(struct sg_automaton *automaton, int32_t e, const uint8_t *known)
{
    uint32_t before = automaton->locals.count, number = save(automaton, e, known);
    struct sg_local_facts *facts;

    if (number == SG_INTERN_NONE || number < before)
        return number;
    facts = sg_intern_room(automaton->local_facts, &automaton->local_capacity, number + 1,
                           sizeof *facts);
    if (facts == NULL)
        return SG_INTERN_NONE;
    automaton->local_facts = facts;
    automaton->world->live_count = 0;
    facts[number] = (struct sg_local_facts){
        .endpoint = (uint8_t)e,
        .calls = (uint8_t)automaton->world->endpoints[e].calls,
        .own = own_letters(automaton, e),
    };
    return number;
}

/* A letter consists of the flight and its sender's knowledge. */
static uint32_t number_letter(struct sg_automaton *automaton,
                              const struct sg_explore_flight *flight, const uint8_t *known)
{
    unsigned char text[SG_AUTOMATON_NODES_MAX + sizeof *flight];
    size_t bytes =
        offsetof(struct sg_explore_flight, values) + flight->values_count * sizeof *flight->values;
    uint32_t before = automaton->letters.count, number;
    struct sg_letter_facts *facts;

    memcpy(text, known, SG_AUTOMATON_NODES_MAX);
    memcpy(text + SG_AUTOMATON_NODES_MAX, flight, bytes);
    number = sg_intern_add(&automaton->letters, text, (uint32_t)(bytes + SG_AUTOMATON_NODES_MAX));
    if (number == SG_INTERN_NONE)
        return number;
    if (number == before) {
        facts = sg_intern_room(automaton->letter_facts, &automaton->letter_capacity, number + 1,
                               sizeof *facts);
        if (facts == NULL)
            return SG_INTERN_NONE;
        automaton->letter_facts = facts;
        facts[number] = (struct sg_letter_facts){
            .kind = flight->base.kind,
            .from = (uint8_t)flight->base.from,
            .to = (uint8_t)flight->base.to,
            .known = known[flight->base.to],
            .multicast = flight->base.multicast,
        };
    }
    return number + SG_LETTER_FLIGHTS;
}

/* ---- moves ----------------------------------------------------------------------------------- */

static struct sg_explore_step step_of(uint32_t letter, uint8_t endpoint)
{
    struct sg_explore_step step = {.index = endpoint};

    if (letter >= SG_LETTER_FLIGHTS) {
        step = (struct sg_explore_step){.kind = SG_STEP_ARRIVE};
    } else if (letter >= SG_LETTER_FIRE) {
        step.kind = SG_STEP_FIRE;
        step.id = (uint8_t)(letter - SG_LETTER_FIRE);
    } else if (letter >= SG_LETTER_NOTICE) {
        step.kind = SG_STEP_NOTICE;
        step.id = (uint8_t)(letter - SG_LETTER_NOTICE);
    } else {
        step.kind = letter == SG_LETTER_CALL ? SG_STEP_CALL : SG_STEP_DRAIN;
    }
    return step;
}

/* Takes the letter in the world. */
static void take(struct sg_automaton *automaton, uint32_t number, uint32_t letter,
                 struct local *local)
{
    struct sg_explore_world *world = automaton->world;
    struct sg_explore_step step;

    clear_flights(world);
    restore(automaton, number, local);
    if (letter >= SG_LETTER_FLIGHTS) {
        const unsigned char *text = sg_intern_at(&automaton->letters, letter - SG_LETTER_FLIGHTS);
        struct sg_explore_flight *flight = &world->flights[world->live[0]];
        size_t bytes = automaton->letters.items[letter - SG_LETTER_FLIGHTS].bytes;

        join(local->known, text);
        memcpy(flight, text + SG_AUTOMATON_NODES_MAX, bytes - SG_AUTOMATON_NODES_MAX);
        world->live_count = 1;
    }
    /* Limits the other endpoints' calls to those that this one can know of. */
    for (int32_t e = 0; e < world->endpoints_count; e++) {
        if (e != local->endpoint)
            world->endpoints[e].calls = local->known[e];
    }
    step = step_of(letter, local->endpoint);
    sg_explore_take(world, &step);
    local->known[local->endpoint] = (uint8_t)world->endpoints[local->endpoint].calls;
}

void sg_automaton_show(struct sg_automaton *automaton, uint32_t local, uint32_t letter)
{
    struct local unused;

    take(automaton, local, letter, &unused);
}

static bool add_sent(struct sg_automaton *automaton, const uint8_t *known, struct sg_move *move)
{
    struct sg_explore_world *world = automaton->world;
    uint32_t *sent = sg_intern_room(automaton->sent, &automaton->sent_capacity,
                                    automaton->sent_count + world->live_count, sizeof *sent);

    if (sent == NULL)
        return false;
    automaton->sent = sent;
    move->sent_at = automaton->sent_count;
    move->sent = (uint16_t)world->live_count;
    for (uint32_t i = 0; i < world->live_count; i++) {
        uint32_t letter = number_letter(automaton, &world->flights[world->live[i]], known);

        if (letter == SG_INTERN_NONE)
            return false;
        sent[automaton->sent_count++] = letter;
        move->multicasts |= sg_letter(automaton, letter)->multicast;
    }
    return true;
}

static bool make_move(struct sg_automaton *automaton, uint32_t number, uint32_t letter,
                      struct sg_move *move)
{
    struct local local;

    *move = (struct sg_move){.to = SG_INTERN_NONE, .local = number, .letter = letter};
    take(automaton, number, letter, &local);
    if (automaton->world->violation[0] != '\0') {
        automaton->world->violation[0] = '\0'; /* a run may never make this move */
        return true;
    }
    if (!add_sent(automaton, local.known, move))
        return false;
    move->to = number_local(automaton, local.endpoint, local.known);
    return move->to != SG_INTERN_NONE;
}

uint32_t sg_automaton_move(struct sg_automaton *automaton, uint32_t local, uint32_t letter)
{
    uint64_t before = automaton->numbers.count;
    uint32_t number = sg_keys_number(&automaton->numbers, ((uint64_t)local << 32 | letter) + 1);
    struct sg_move *moves, move;

    if (number < before)
        return number;
    moves = number == SG_INTERN_NONE ? NULL
                                     : sg_intern_room(automaton->moves, &automaton->moves_capacity,
                                                      number + 1, sizeof *moves);
    if (moves)
        automaton->moves = moves;
    if (moves == NULL || !make_move(automaton, local, letter, &move)) {
        automaton->no_memory = true;
        return SG_INTERN_NONE;
    }
    moves[number] = move;
    return number;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

void sg_automaton_open(struct sg_automaton *automaton, struct sg_explore_world *world)
{
    static const uint8_t nothing[SG_AUTOMATON_NODES_MAX];

    automaton->world = world;
    automaton->numbers.numbered = true;
    automaton->queue_limit = sg_explore_queue_limit(&world->scenario->parameters);
    sg_intern_clear(&automaton->locals);
    sg_intern_clear(&automaton->letters);
    sg_keys_clear(&automaton->numbers);
    automaton->sent_count = 0;
    automaton->no_memory = false;
    for (int32_t e = 0; e < world->endpoints_count; e++) {
        automaton->first[e] = number_local(automaton, e, nothing);
        automaton->no_memory |= automaton->first[e] == SG_INTERN_NONE;
    }
}

void sg_automaton_free(struct sg_automaton *automaton)
{
    sg_intern_free(&automaton->locals);
    sg_intern_free(&automaton->letters);
    sg_keys_free(&automaton->numbers);
    free(automaton->local_facts);
    free(automaton->letter_facts);
    free(automaton->moves);
    free(automaton->sent);
    free(automaton->text);
    memset(automaton, 0, sizeof *automaton);
}

/* ---- sets of keys ---------------------------------------------------------------------------- */

#define LEAST 4096

/* Slot of the key, or the slot where it would be inserted. */
static uint64_t place_of(const struct sg_keys *keys, uint64_t key)
{
    uint64_t mask = keys->capacity - 1;
    uint64_t place = (key * UINT64_C(0x9fb21c651e98df25) >> 32) & mask;

    while (keys->keys[place] != 0 && keys->keys[place] != key)
        place = (place + 1) & mask;
    return place;
}

static bool grow(struct sg_keys *keys)
{
    struct sg_keys larger = *keys;

    larger.capacity = keys->capacity ? 2 * keys->capacity : LEAST;
    larger.keys = calloc(larger.capacity, sizeof *larger.keys);
    if (keys->numbered)
        larger.numbers = calloc(larger.capacity, sizeof *larger.numbers);
    if (larger.keys == NULL || (keys->numbered && larger.numbers == NULL)) {
        free(larger.keys);
        if (keys->numbered)
            free(larger.numbers);
        return false;
    }
    for (uint64_t i = 0; i < keys->capacity; i++) {
        uint64_t place;

        if (keys->keys[i] == 0)
            continue;
        place = place_of(&larger, keys->keys[i]);
        larger.keys[place] = keys->keys[i];
        if (keys->numbered)
            larger.numbers[place] = keys->numbers[i];
    }
    free(keys->keys);
    free(keys->numbers);
    *keys = larger;
    return true;
}

/* Sets *place to the key's slot. */
static int add(struct sg_keys *keys, uint64_t key, uint64_t *place)
{
    if (2 * (keys->count + 1) > keys->capacity && !grow(keys))
        return -1;
    *place = place_of(keys, key);
    if (keys->keys[*place] != 0)
        return 0;
    keys->keys[*place] = key;
    if (keys->numbered)
        keys->numbers[*place] = (uint32_t)keys->count;
    keys->count++;
    return 1;
}

int sg_keys_add(struct sg_keys *keys, uint64_t key)
{
    uint64_t place;

    return add(keys, key + (key == 0), &place);
}

/* Adds a key greater than 0. Returns its number, counted from 0, or UINT32_MAX when memory runs
 * out. */
static uint32_t sg_keys_number(struct sg_keys *keys, uint64_t key)
{
    uint64_t place;

    return add(keys, key, &place) < 0 ? UINT32_MAX : keys->numbers[place];
}

bool sg_keys_has(const struct sg_keys *keys, uint64_t key)
{
    key += key == 0;
    return keys->count > 0 && keys->keys[place_of(keys, key)] != 0;
}

bool sg_keys_add_all(struct sg_keys *keys, const struct sg_keys *other)
{
    for (uint64_t i = 0; i < other->capacity; i++) {
        if (other->keys[i] != 0 && sg_keys_add(keys, other->keys[i]) < 0)
            return false;
    }
    return true;
}

void sg_keys_clear(struct sg_keys *keys)
{
    keys->count = 0;
    if (keys->keys)
        memset(keys->keys, 0, keys->capacity * sizeof *keys->keys);
}

void sg_keys_free(struct sg_keys *keys)
{
    free(keys->keys);
    free(keys->numbers);
    *keys = (struct sg_keys){0};
}
