"""Checks a Chrome trace JSON file: check_trace.py FILE. Prints its counts as JSON.

Every event has the fields of its phase; the slices of a track nest; a flow begins once, inside a slice, and
ends inside slices that are no earlier; a message's flow connects the call that sent it with the call
that received it; spans have one beginning and one end; every process and thread has a name; counters are
numbers.
"""
import collections
import json
import sys

NEEDED = {
    "X": {"pid", "tid", "ts", "dur", "name", "cat", "args"},
    "s": {"pid", "tid", "ts", "id", "name", "cat"},
    "f": {"pid", "tid", "ts", "id", "name", "cat", "bp"},
    "b": {"pid", "tid", "ts", "id", "name", "cat", "args"},
    "e": {"pid", "tid", "ts", "id", "name", "cat"},
    "C": {"pid", "ts", "name", "args"},
    "M": {"pid", "name", "args"},
}
METADATA = {"process_name", "process_sort_index", "thread_name"}


def fail(text, event=None):
    print(f"{text}: {event}" if event is not None else text)
    sys.exit(1)


def ns(microseconds):
    return round(microseconds * 1000)


def check_fields(events):
    for event in events:
        phase = event.get("ph")
        if phase not in NEEDED:
            fail("an unknown phase", event)
        if not NEEDED[phase] <= set(event):
            fail(f"fields are missing: {NEEDED[phase] - set(event)}", event)
        if phase == "M" and event["name"] not in METADATA:
            fail("unknown metadata", event)
        if phase == "X" and event["dur"] < 0:
            fail("a slice that ends before it begins", event)
        if phase == "C" and not all(isinstance(v, (int, float)) for v in event["args"].values()):
            fail("a counter that is no number", event)
        if phase == "f" and event["bp"] != "e":
            fail("a flow that ends at the next slice", event)
        if event["pid"] == 0 or event.get("tid", 1) == 0:
            fail("number 0 is the idle task's", event)


def check_names(events):
    named = {name: set() for name in METADATA}
    for event in events:
        if event["ph"] == "M":
            key = event["tid"] if event["name"] == "thread_name" else event["pid"]
            if key in named[event["name"]]:
                fail("named twice", event)
            named[event["name"]].add(key)
    for event in events:
        if event["pid"] not in named["process_name"]:
            fail("a process without a name", event)
        if event["ph"] == "X" and event["tid"] not in named["thread_name"]:
            fail("a thread without a name", event)
    return named


def check_nesting(slices):
    """By track: begin and end of each slice, in order."""
    tracks = collections.defaultdict(list)
    for event in slices:
        begin = ns(event["ts"])
        tracks[event["tid"]].append((begin, begin + ns(event["dur"]), event))
    for track in tracks.values():
        track.sort(key=lambda item: (item[0], -item[1]))
        stack = []
        for begin, end, event in track:
            while stack and stack[-1] <= begin:
                stack.pop()
            if stack and end > stack[-1]:
                fail("slices that overlap and do not nest", event)
            stack.append(end)
    return tracks


def check_flows(events, tracks):
    begins = {}
    for event in events:
        if event["ph"] == "s":
            if event["id"] in begins:
                fail("a flow that begins twice", event)
            begins[event["id"]] = event
    ended = set()
    for event in events:
        if event["ph"] not in "sf":
            continue
        time = ns(event["ts"])
        if not any(begin <= time < end for begin, end, _ in tracks[event["tid"]]):
            fail("a flow outside of slices", event)
        if event["ph"] == "f":
            begin = begins.get(event["id"])
            if begin is None or begin["name"] != event["name"] or begin["cat"] != event["cat"]:
                fail("a flow that ends and never began", event)
            if time < ns(begin["ts"]) or event["tid"] == begin["tid"]:
                fail("a flow that goes nowhere", event)
            ended.add(event["id"])
    if ended != set(begins):
        fail(f"flows that never end: {set(begins) - ended}")


def call_at(tracks, event):
    """The MPI call in which a flow begins or ends."""
    time = ns(event["ts"])
    calls = [call for begin, end, call in tracks[event["tid"]]
             if begin <= time < end and call["cat"] == "call"]
    if len(calls) != 1:
        fail("a message's flow in no call of MPI", event)
    return calls[0]["args"]


def check_messages(events, tracks):
    """Checks message flows; a call with one message has known peer, tag, bytes and communicator."""
    begins = {e["id"]: e for e in events if e["ph"] == "s" and e["cat"] == "message"}
    for end in (e for e in events if e["ph"] == "f" and e["cat"] == "message"):
        begin = begins.pop(end["id"])
        sent, received = call_at(tracks, begin), call_at(tracks, end)
        if "sent_bytes" not in sent or "received_bytes" not in received:
            fail("a message between calls that have none", end)
        if sent.get("to", end["pid"] - 1) != end["pid"] - 1:
            fail("a message that was sent to another", end)
        if received.get("from", begin["pid"] - 1) != begin["pid"] - 1:
            fail("a message that came from another", end)
        if "to" in sent and "from" in received and sent["sent_tag"] != received["received_tag"]:
            fail("a message of another tag", end)
    if begins:
        fail(f"messages that do not arrive: {list(begins)}")


def count_functions(slices):
    """Calls by MPI function, and messages received."""
    functions, received = collections.Counter(), 0
    for event in slices:
        word, args = event["name"].split()[0], event["args"]
        if event["cat"] == "collective":
            functions["MPI_" + word.capitalize()] += 1
        elif event["cat"] == "call":
            functions[word] += 1
            received += args.get("received_messages", "from" in args)
    return functions, received


def check_spans(events):
    open_spans = {}
    for event in events:
        if event["ph"] == "b":
            if event["id"] in open_spans:
                fail("a span that begins twice", event)
            open_spans[event["id"]] = event
        elif event["ph"] == "e":
            begin = open_spans.pop(event["id"], None)
            if begin is None or event["ts"] < begin["ts"] or event["name"] != begin["name"]:
                fail("a span that ends without a beginning", event)
    if open_spans:
        fail("spans that never end", open_spans)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    check_fields(events)
    named = check_names(events)
    tracks = check_nesting(slices)
    check_flows(events, tracks)
    check_messages(events, tracks)
    check_spans(events)
    functions, received = count_functions(slices)
    categories = collections.Counter(event["cat"] for event in slices)
    print(json.dumps({
        "collectives": categories["collective"], "late": categories["late"],
        "calls": categories["call"], "functions": functions, "received": received,
        "flows": sum(event["ph"] == "f" for event in events),
        "messages": sum(event["ph"] == "f" and event["cat"] == "message" for event in events),
        "spans": sum(event["ph"] == "b" for event in events),
        "processes": len(named["process_name"]), "threads": len(named["thread_name"]),
        "counters": sorted({event["name"] for event in events if event["ph"] == "C"}),
        "names": sorted({event["name"] for event in slices}), "program": trace["otherData"]["program"],
        "wait_us": round(sum(event["args"].get("wait_us", 0) for event in slices), 3)}))


if __name__ == "__main__":
    main()
