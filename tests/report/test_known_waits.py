"""The waits of programs that know them. known_waits.c describes its cases, and stamps its calls by its own clock:
the report has the waits that follow from the stamps by the definitions of report/wait_sums.h, with their
amounts, ranks, call sites, causes and path. All amounts lie between a lower and an upper bound, because a
busy machine may take the processor away between a stamp and its call. A launch in which the bounds of a case
are far apart is repeated. Where other ranks than those of its row came late, too, a launch proves what holds, but
not what does not: then it is repeated.
"""
# long
import collections
import functools
import itertools
import json
import re

import pytest
from lib.runs import ROOT, STAGGER, WORK, Run, has, is_sound, lacks, ran, run, stagger

SETTINGS = {"own": {}, "mpich": {"STAGGER_RULES": "*=mpich"}, "nodes": {"STAGGER_RANKS_PER_NODE": "2"}}
LAUNCHES = 4
MARGIN_NS = 60_000
PROMPT_NS = 1_000_000  # after its time a rank is late by itself
RANKS = range(4)
OUTSIDE = {"meet": "wait at barrier: MPI_Barrier *<* MPI_Barrier",
           "init": "wait at init: MPI_Init *<* MPI_Init",
           "finalize": "wait at finalize: MPI_Finalize *<* MPI_Finalize"}
CASES = re.findall(r"\bROW\((\w+),\s*\"", (ROOT / "tests/mpi/known_waits.c").read_text()) + list(OUTSIDE)
# By function: the rank that is late, the changes of rank that lead to it, what its time went to, and the cause.
CAUSES = {"computing": (1, 0, "cpu", {"computing", "more work", "slower", "kernel"}), "asleep": (2, 0, "rest", {"asleep"}),
          "faults": (3, 0, "cpu", {"page faults", "kernel"}), "writes": (0, 0, "rest", {"reading or writing"}),
          "preempted": (1, 0, "runnable", {"preempted by others", "preempted"}),
          "chain": (1, 1, "cpu", {"computing", "more work", "slower", "kernel"})}
GROUPS = {"cpu": {"computing", "more work", "slower", "kernel", "page faults"}, "rest": {"asleep", "reading or writing"},
          "runnable": {"preempted", "preempted by others", "preempted by its threads"}}

# ---- the truth ----------------------------------------------------------------------------------


class Span:
    """An amount between two bounds."""

    def __init__(self, low=0, high=0):
        self.low, self.high = low, high

    def __add__(self, other):
        return Span(self.low + other.low, self.high + other.high)

    def holds(self, value):
        return self.meets(value, value)

    def meets(self, least, greatest):
        return least <= self.high * 1.05 + MARGIN_NS and greatest >= self.low * 0.95 - MARGIN_NS

    def __repr__(self):
        return f"{self.low / 1e6:.3f}..{self.high / 1e6:.3f} ms"


def spans():
    """Spans by key"""
    return collections.defaultdict(Span)


Stamp = collections.namedtuple("Stamp", "function call line before begun after")
Spent = collections.namedtuple("Spent", "begin elapsed cpu runnable")


def edges_of(text):
    """Awaited ranks by waiting rank: 1<02 is {1: {0, 2}}"""
    ranks = lambda letters: set(RANKS) if letters == "*" else {int(letter) for letter in letters}
    return {rank: ranks(awaited) - {rank} for edge in text.split(",") for waiting, awaited in [edge.split("<")]
            for rank in ranks(waiting)}


class Wait:
    """A wait of a row: STATE: CALL|CALL EDGES CALL[>RANKS:CALL], as the stamps of each round have it."""

    def __init__(self, text, rounds):
        self.state, rest = text.split(": ")
        calls, edges, last = rest.split()
        self.call, _, since = last.partition(">")
        self.calls = set(calls.split("|"))
        self.total, self.waiting, self.awaited, self.in_round = Span(), spans(), spans(), spans()
        self.sites, self.others = set(), set()
        # By round: {rank that certainly waits: until when at least, and the ranks that may be the last}
        self.last = {number: {} for number in rounds}
        # By round: {rank that may wait: the ranks that may be the last}
        self.possible = {number: collections.defaultdict(set) for number in rounds}
        for (number, stamps), (rank, awaited) in itertools.product(rounds.items(), edges_of(edges).items()):
            others = {other: stamp for other in awaited for stamp in stamps[other] if stamp.call == self.call}
            ranks, _, call = since.partition(":")
            openings = [stamp for other in ranks for stamp in stamps[int(other)] if stamp.call == call]
            for stamp in stamps[rank]:
                if stamp.call in self.calls:
                    self.add(number, rank, stamp, others, openings)

    def add(self, number, rank, stamp, others, openings):
        """The rank waits until the last of the others enters its call, of those that do before its own ends;
        only since the last of the openings that precede its end."""
        others = {other: entered for other, entered in others.items() if entered.before < stamp.after}
        self.sites.add((stamp.call, stamp.function, stamp.line))
        if not others:
            return
        self.others |= {(other.call, other.function, other.line) for other in others.values()}
        ready = Span(max(other.before for other in others.values()), max(other.begun for other in others.values()))
        begin = Span(stamp.before, stamp.begun)
        for opening in openings:
            begin.low = max(begin.low, opening.before if opening.begun < stamp.after else 0)
            begin.high = max(begin.high, opening.begun if opening.before < stamp.after else 0)
        span = Span(max(0, ready.low - begin.high) if stamp.after >= ready.high else 0,
                    max(0, ready.high - begin.low) if stamp.after >= ready.low else 0)
        last = {other for other, entered in others.items() if entered.begun >= ready.low}
        if span.low > 0:
            self.last[number][rank] = ready.low, last
        if span.high > 0:
            self.possible[number][rank] |= last
        self.total += span
        self.in_round[number] += span
        self.waiting[rank] += span
        for other in last:
            self.awaited[other] += Span(span.low if len(last) == 1 else 0, span.high)


class Case:
    def __init__(self, waits, rounds, spent):
        self.waits = [Wait(text, rounds) for text in waits.split("; ") if text != "-"]
        self.rounds, self.rounds_spent = rounds, spent
        self.spent = spent  # by round: {late rank: Spent}
        self.functions = {stamp.function for stamps in rounds.values() for rank in RANKS for stamp in stamps[rank]}
        self.calls = {(s.call, s.function) for stamps in rounds.values() for rank in RANKS for s in stamps[rank]}

    def is_sharp(self):
        return all(wait.total.high - wait.total.low <= max(0.2 * wait.total.high, 1e6) for wait in self.waits)

    def is_prompt(self, meetings):
        return all(self.latency(rank, number, meetings[number]) <= PROMPT_NS
                   for number, rank in itertools.product(self.rounds, RANKS) if self.rounds[number][rank])

    def latency(self, rank, number, meeting):
        """The time that a rank takes until its first call in a round, after what makes it late, or the meeting"""
        first, spent = self.rounds[number][rank][0], self.spent[number].get(rank)
        if spent is not None and spent.begin < first.before:
            return first.before - spent.begin - spent.elapsed
        return first.before - max(stamps[0].before for stamps in meeting.values())

    def latest(self, number):
        """The rank that comes latest, and the call to which it does in a round."""
        called = lambda rank, number: next(
            stamp for stamp in self.rounds[number][rank] if stamp.before > self.spent[number][rank].begin)
        rank = max(RANKS, key=lambda rank: sum(called(rank, of).before for of, spent in self.spent.items() if rank in spent))
        return rank, called(rank, number)


class Launch:
    """A launch under the library: its cases, and its reports."""

    def __init__(self, setting, *words, **variables):
        files = WORK / f"stamps-{setting}{len(list(WORK.glob('stamps-*')))}"
        self.run = Run(4, "known_waits", files, *words, STAGGER_WAIT="yield", STAGGER_CAUSES="all",
                       STAGGER_TRACE_BYTES="512m", **variables)
        assert self.run.ran_well()
        rows, rounds = dict(OUTSIDE), collections.defaultdict(
            lambda: collections.defaultdict(lambda: {rank: [] for rank in RANKS}))
        spent = collections.defaultdict(lambda: collections.defaultdict(dict))
        for rank in RANKS:
            with open(f"{files}.{rank}", encoding="utf-8") as lines:
                for kind, case, rest in (line.rstrip().split(" ", 2) for line in lines):
                    if kind == "case":
                        rows[case] = rest.split(": ", 1)[1]
                        continue
                    number, *figures = rest.replace("MPI_Init_thread", "MPI_Init").split()
                    if kind == "spent":
                        spent[case][int(number)][rank] = Spent(*map(int, figures))
                    else:
                        rounds[case][int(number)][rank].append(Stamp(*figures[:2], *map(int, figures[2:])))
        self.rounds, self.rounds_spent = rounds, spent
        self.cases = {case: Case(waits, rounds[case], spent[case]) for case, waits in rows.items()}
        self.report, *of_rank = (json.loads(run(STAGGER, "report", "--json", *words, self.run.trace).stdout)
                                 for words in [[], *(["--rank", rank] for rank in RANKS)])
        self.text = stagger("report", "--waits", "--top", 1000, self.run.trace)
        self.of_rank = [one["wait_states"]["by_site"] for one in of_rank]


@functools.cache
def launched(setting, number):
    return Launch(setting, *(["threads"] if setting == "threads" else []), **SETTINGS.get(setting, {}))


def sharp(case, setting):
    """A launch in which the case is sharp; or the last."""
    return next((one for one in (launched(setting, number) for number in range(LAUNCHES))
                 if case == "init" or one.cases[case].is_sharp()), launched(setting, LAUNCHES - 1))


def check(case, setting, failure):
    """Requires that failure(launch) is empty for a launch: in any case for one that is sharp and whose ranks are prompt,
    which ends the search."""
    holds = False
    for number in range(LAUNCHES):
        launch = launched(setting, number)
        is_sharp = case in OUTSIDE or launch.cases[case].is_sharp()
        failed = failure(launch)
        assert not (failed and is_sharp and (case in OUTSIDE or launch.cases[case].is_prompt(launch.cases["meet"].rounds))), failed
        holds = holds or not failed
        if holds and is_sharp:
            return
    if not holds:
        pytest.skip("other processes disturbed all launches")


# ---- the report ---------------------------------------------------------------------------------


def is_at(row, sites):
    """A macro's call may have any of the macro's lines. MPI_Init and MPI_Finalize have no call site."""
    return any(row["mpi_function"] == call and (row["function"] is None or (
        row["function"] == function and abs(row["line"] - line) <= 3)) for call, function, line in sites)


def rows_of(rows, wait):
    return [row for row in rows if row["state"] == wait.state and is_at(row, wait.sites)]


def bounds(rank, rows):
    """The least and the greatest amount of a rank, in rows of the greatest rank, its amount and that of all."""
    least = sum(amount for of, amount, _ in rows if of == rank)
    return least, least + sum(min(amount, total - amount) for of, amount, total in rows if of != rank)


def wrong_waits(launch, case):
    """Where the tables of waits differ from the truth."""
    truth, wrong = launch.cases[case], []
    states = launch.report["wait_states"]
    for wait in truth.waits:
        name = f"{wait.state} in {', '.join(sorted(wait.calls))}"
        total = sum(row["wait_ns"] for row in rows_of(states["by_site"], wait))
        if not wait.total.holds(total):
            wrong.append(f"{name}: {wait.total}: {total}")
        for rank in RANKS:
            waited = sum(row["wait_ns"] for row in rows_of(launch.of_rank[rank], wait))
            if not wait.waiting[rank].holds(waited):
                wrong.append(f"{name} on rank {rank}: {wait.waiting[rank]}: {waited}")
        pairs = rows_of(states["pairs"], wait)
        for rank in RANKS:
            awaited = bounds(rank, [(pair["rank"], pair["rank_wait_ns"], pair["wait_ns"]) for pair in pairs])
            if not wait.awaited[rank].meets(*awaited):
                wrong.append(f"{name} for {rank}: {wait.awaited[rank]}: {awaited}")
        wrong += [f"{name} for {pair['for']}" for pair in pairs if not is_at(pair["for"], wait.others)]
    known = [id(row) for wait in truth.waits for row in rows_of(states["by_site"], wait)]
    return wrong + [f"nobody waits: {row}" for row in states["by_site"]
                    if (row["mpi_function"], row["function"]) in truth.calls and id(row) not in known
                    and row["wait_ns"] > MARGIN_NS]


def waits_for(truth, number):
    """The rank that is late in this round, and those that certainly wait for its call, or for such a rank after it;
    none, if it may itself wait for another"""
    late, called = truth.latest(number)
    found = {late}
    for _ in RANKS:
        found |= {rank for wait in truth.waits for rank, (until, last) in wait.last[number].items()
                  if until >= called.before and last <= found}
    return found if all(wait.possible[number][late] <= found for wait in truth.waits) else set()


def path_of(launch, case):
    """The late rank; its time before its call, of which the rounds that are certainly on the critical path are the
    least; and the least and greatest that the path may have of it there"""
    truth, meetings, span = launch.cases[case], launch.cases["meet"].rounds, Span()
    for number, spent in truth.spent.items():
        late, stamp = truth.latest(number)
        came = {rank: stamps[0] for rank, stamps in meetings[number + 1].items()}
        those = waits_for(truth, number)
        is_last = max((came[rank].before for rank in those), default=0) > \
            max((came[rank].begun for rank in {*RANKS} - those), default=0)
        span += Span(is_last and spent[late].elapsed, stamp.begun - meetings[number][late][0].before)
    rows = [row for row in launch.report["critical_path"]["rows"] if row["kind"] == "interval"
            and is_at(row["until"], [(stamp.call, stamp.function, stamp.line)])]
    return late, span, *bounds(late, [(row["rank"], row["rank_ns"], row["path_ns"]) for row in rows])


def wrong_path(launch, case):
    late, span, least_ns, greatest_ns = path_of(launch, case)
    return "" if span.meets(least_ns, greatest_ns) else f"{late}: {span}: {least_ns} to {greatest_ns}"


def causes_of(launch, case):
    """The causes of lateness at a function, as {(rank, steps): {cause: ns}}"""
    found = collections.defaultdict(dict)
    for site in launch.report["causes"]["sites"]:
        if site["function"] == case:
            for row in site["causes"]:
                found[row["rank"], row["steps"]][row["cause"]] = row["late_ns"]
    return found


def delay(launch, case, number):
    """The time that others than the late rank took before their calls, and that it took before it began to be late
    and afterwards: once for each rank that waited for it"""
    met = max(stamps[0].before for stamps in launch.cases["meet"].rounds[number].values())
    late, called = launch.cases[case].latest(number)
    spent = launch.cases[case].spent[number][late]
    first = [stamps[0] for rank, stamps in launch.cases[case].rounds[number].items() if rank != late]
    return sum(stamp.begun - met for stamp in first if stamp.before < called.before) + \
        len(first) * (spent.begin - met + called.begun - spent.begin - spent.elapsed)


def sampled(wait, late_ns):
    """The rounds whose waits have this sum: a round in which a reading was disturbed is not sampled."""
    return next((some for count in range(len(wait.in_round), -1, -1)
                 for some in itertools.combinations(wait.in_round, count)
                 if sum((wait.in_round[number] for number in some), Span()).holds(late_ns)), None)


def wrong_causes(launch, case):
    """Where the causes of lateness differ from how the late rank spent its time."""
    rank, steps, group, names = CAUSES[case]
    truth, found = launch.cases[case], causes_of(launch, case)
    rounds = sampled(truth.waits[-1], sum(sum(causes.values()) for causes in found.values()))
    if rounds is None:
        return f"{truth.waits[-1].in_round}: {found}"
    if not rounds:
        assert launch.report["causes"]["instances"] > launch.report["causes"]["unsampled_instances"]
        pytest.skip("other processes disturbed the readings in all rounds")
    total = sum((truth.waits[-1].in_round[number] for number in rounds), Span())
    spent = [truth.spent[number][rank] for number in rounds]
    amounts = {"cpu": sum(one.cpu for one in spent), "runnable": sum(one.runnable for one in spent)}
    amounts["rest"] = sum(one.elapsed for one in spent) - sum(amounts.values())
    expected_ns = total.low * amounts[group] / sum(amounts.values())
    reported_ns = sum(ns for cause, ns in found[rank, steps].items() if cause in GROUPS[group])
    # Time on one of two paths may count for or against each of three groups.
    doubt_ns = 0.05 * total.high + total.high - total.low + 3 * sum(delay(launch, case, number) for number in rounds)
    is_right = abs(reported_ns - expected_ns) <= doubt_ns and (expected_ns <= doubt_ns or names & found[rank, steps].keys())
    return "" if is_right else f"{amounts}, {doubt_ns}: {found}"


def params(settings, cases):
    """A parameter for each case under each setting."""
    return [pytest.param(f"{case} {setting}", id=f"{case}-{setting}") for setting, case in itertools.product(settings, cases)]


@pytest.mark.parametrize("known", params(SETTINGS, [case for case in CASES if case != "threads"]))
def test_waits(known):
    """waits have their amount, ranks and call sites"""
    case, setting = known.split()
    check(case, setting, lambda launch: "\n".join(wrong_waits(launch, case)))


def test_threads():
    """each thread waits for its own message"""
    wrong = wrong_waits(sharp("threads", "threads"), "threads")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("known", params(SETTINGS, [case for case in CASES if case not in {*OUTSIDE, "threads"}]))
def test_path(known):
    """the late rank's time is on the critical path"""
    case, setting = known.split()
    check(case, setting, lambda launch: wrong_path(launch, case))


def late_outside(launch, call):
    """The rank that is late in MPI_Init or MPI_Finalize, the others, and the reason for it in the text."""
    late = next(pair["rank"] for pair in launch.report["wait_states"]["pairs"] if pair["mpi_function"] == call)
    return late, {*RANKS} - {late}, re.search(rf"^  {call} +- +.*%  {late}\b.*?  +(\S.*)$", launch.text, re.MULTILINE)[1]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def mostly_slept(spent, of_ns):
    return spent is not None and spent.elapsed - spent.cpu - spent.runnable > 0.6 * of_ns


@pytest.mark.parametrize("setting", SETTINGS)
def test_late_start(setting):
    """a rank is late in MPI_Init because its process started later, or because of what it did before"""
    launch = sharp("init", setting)
    late, others, because = late_outside(launch, "MPI_Init")
    of_rank = launch.rounds["init"][0]
    wait, after = [of_rank[late][n].before - mean(of_rank[rank][n].before for rank in others) for n in (1, 0)]
    did = wait - after
    assert because == "started later" if did < 0.4 * wait else did < 0.6 * wait or because.endswith("start -> MPI_Init") or \
        because.startswith("preempted"), (because, did, wait)
    if did > 0.6 * wait and mostly_slept(launch.rounds_spent["init"][0].get(late), of_rank[late][1].before - of_rank[late][0].before):
        assert because == "asleep start -> MPI_Init"


@pytest.mark.parametrize("setting", SETTINGS)
def test_late_end(setting):
    """the last interval of a rank is the reason why it is late in MPI_Finalize"""
    launch = sharp("finalize", setting)
    late, others, because = late_outside(launch, "MPI_Finalize")
    (number, ends), = launch.rounds["finalize"].items()
    interval = {rank: ends[rank][0].before - launch.rounds["last"][number][rank][0].after for rank in RANKS}
    if mostly_slept(launch.rounds_spent["finalize"][number].get(late), interval[late]) and \
            mean(interval[rank] for rank in others) < interval[late] / 2:
        assert re.fullmatch("asleep .* -> MPI_Finalize", because)
    assert because != "-"


@pytest.mark.parametrize("known", params(SETTINGS, CAUSES))
def test_causes(known):
    """the cause of lateness has its rank and its amount"""
    case, setting = known.split()
    check(case, setting, lambda launch: wrong_causes(launch, case))


def test_messages():
    """all messages but the cancelled one are matched, one site has them in wrong order, and the text names both ends"""
    launch = launched("own", 0)
    states = launch.report["wait_states"]
    assert [states[name] for name in ("unmatched_sends", "unmatched_receives", "clock_violations")] == [0, 0, 0]
    assert "wrong_order" in [row["function"] for row in states["by_site"] if row["wrong_order_waits"]]
    assert has(stagger("report", "--waits", "--top", 500, launch.run.trace),
               r"MPI_Ssend +ssend known_waits.c:\d+ +1 +MPI_Recv +ssend known_waits.c:\d+$")


# ---- programs whose waits have no stamps: states, functions and ranks, whatever their length --------


def pairs_of(program):
    """A line for each pair of call sites of which one waits for the other."""
    return "\n".join(
        "{state}: {mpi_function} in {function} for {rank}: ".format(**pair) +
        "{mpi_function} in {function}".format(**pair["for"])
        for pair in ran(4, program).report["wait_states"]["pairs"])


def matched(report):
    return [report["wait_states"][name] for name in ("matched_messages", "unmatched_sends", "unmatched_receives")]


@pytest.mark.parametrize("program", ["known_between", "known_neighbors"])
def test_runs(program):
    """the program runs, and its archive is sound"""
    known = ran(4, program)
    assert known.ran_well() and known.is_sound()


# ---- between groups: ranks 2, 0 and 1, 3 -------------------------------------------------------


@pytest.mark.parametrize("state, function, rank", [
    ("late sender", "message", 0), ("late sender", "posted", 1), ("wait at barrier", "barrier", 3),
    ("wait at NxN", "allreduce", 3), ("wait at NxN", "ialltoall", 0), ("late broadcast", "bcast", 0),
    ("early reduce", "reduce", 0), ("early reduce", "gather", 3), ("wait at NxN", "one_way", 1)])
def test_between(state, function, rank):
    """ranks of a group wait for a late rank of the other"""
    assert has(pairs_of("known_between"), f"^{state}: MPI_[A-Za-z]* in {function} for {rank}: ")


def test_intercommunicators():
    """intercommunicators are defined once, with both groups and their parent, and no call is omitted"""
    between = ran(4, "known_between")
    is_sound(between.archive, "--json", "counts.json")
    with open("counts.json", encoding="utf-8") as file:
        comms = {comm["name"]: comm for comm in json.load(file)["comms"] if comm["groups"] or comm["name"] == "merged"}
    assert {name: sorted(map(sorted, comm["groups"])) for name, comm in comms.items() if comm["groups"]} == {
        "between": [[0, 2], [1, 3]], "copy": [[0, 2], [1, 3]], "lower": [[0], [1]], "upper": [[2], [3]]}
    assert {name: comm["parent"] for name, comm in comms.items()} == {
        "between": None, "merged": None, "copy": "between", "lower": "between", "upper": "between"}
    assert (between.report["partial"], between.report["dropped_calls"], matched(between.report)) == (False, 0, [10, 0, 0])


# ---- neighbors ---------------------------------------------------------------------------------


@pytest.mark.parametrize("call, place, late", [
    ("MPI_Neighbor_allgather", "line", "MPI_Neighbor_allgather"),
    ("MPI_Neighbor_alltoall", "exchange", "MPI_Neighbor_alltoall"),
    ("MPI_Wait", "posted", "MPI_Ineighbor_allgather"), ("MPI_Wait", "started", "MPI_Start"),
    ("MPI_Neighbor_alltoall", "graph", "MPI_Neighbor_alltoall"),
    ("MPI_Neighbor_allgather", "edges", "MPI_Neighbor_allgather")])
def test_neighbors(call, place, late):
    """a rank waits for its late neighbor, and no other does"""
    neighbors = ran(4, "known_neighbors")
    if place == "started" and '"MPI_Neighbor_alltoall_init"' not in run("otf2-print", "-G", neighbors.archive).stdout:
        pytest.skip("this MPICH has no persistent ones")
    assert has(pairs_of("known_neighbors"), f"^late neighbor: {call} in beside_{place} for 0: {late} in late_{place}$")


def test_no_neighbors():
    """no rank waits for one that is not its neighbor, nor without sources, nor in functions that are filtered out"""
    assert lacks(pairs_of("known_neighbors"), "in away_[a-z]* for 0:", "^late neighbor: [^:]* in (late|away)_edges")
    assert has(stagger("report", "--waits", "--top", 100, ran(4, "known_neighbors").trace),
               r"^ +late neighbor +MPI_Neighbor_alltoall +beside_exchange known_neighbors.c:\d+ ")
    fewer = Run(4, "known_neighbors", STAGGER_CALLS="*neighbor_allgather*")
    text = stagger("report", "--waits", "--top", 100, fewer.trace)
    assert fewer.is_sound() and lacks(text, "MPI_Neighbor_alltoall")
    assert has(text, "^ +late neighbor +MPI_Neighbor_allgather +beside_edges ")


# ---- messages of which some have no events: each has its own length, which the archive check compares --


@pytest.mark.parametrize("kind, messages, variables", [
    ("switched", [7, 1, 1], {}), ("pending", [5, 7, 0], {}),
    ("kinds", [18, 0, 6], {"STAGGER_EVENTS": "Ssend,Isend,Sendrecv,Recv,Wait"}),
    ("kinds", [18, 0, 6], {"STAGGER_CALLS": "Ssend,Isend,Sendrecv,Recv"}),
    ("pending", [2, 10, 0], {"STAGGER_EVENTS": "Send,Irecv,Wait,Start"})])
def test_gaps(kind, messages, variables):
    """only messages with an event at both ends are matched"""
    gaps = Run(2, "gaps", kind, **variables)
    assert gaps.ran_well() and gaps.is_sound() and matched(gaps.report) == messages
    assert gaps.report["wait_states"]["clock_violations"] == 0
