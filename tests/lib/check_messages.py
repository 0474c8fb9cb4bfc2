"""The rules of an archive's messages and requests, for check_archive.py.

Request numbers are unique on a rank while the requests are open, whichever thread completes them. For each
communicator, sender, receiver and tag, no more messages are received than were sent, and none before it
was sent; if all are received, their lengths match. The attribute "gap" marks messages after one that has
no event at its end: then only messages with events at both ends, in the order of sends and of posts, must
have matching lengths.
"""
import collections

from otf2.events import (MpiIrecv, MpiIrecvRequest, MpiIsend, MpiIsendComplete, MpiRecv,
                         MpiRequestCancelled, MpiSend)

MESSAGES = (MpiIrecv, MpiIrecvRequest, MpiIsend, MpiIsendComplete, MpiRecv, MpiRequestCancelled,
            MpiSend)
BEGIN = (MpiSend, MpiIsend, MpiIrecvRequest)


class Request:
    def __init__(self, sends, message=None, posted=None):
        self.sends = sends
        self.message = message
        self.posted = posted


class Messages:
    def __init__(self, check, ends_of):
        self.check = check
        # (comm, rank of the world, peer): the identities of both in comm, None if they are not
        # members
        self.ends_of = ends_of
        self.open = {}          # by (rank, number)
        self.sent = collections.defaultdict(list)  # (time, bytes) by (comm, from, to, tag)
        self.received = collections.defaultdict(list)
        self.gaps = {True: collections.defaultdict(list), False: collections.defaultdict(list)}
        self.posts = 0          # so many so far: posted tells of the order

    def step(self, rank, event, region, last_is_enter):
        """region: the innermost open region on the location, None if there is none."""
        check = self.check
        if isinstance(event, BEGIN):
            check.expect("messages begin inside an MPI call", region is not None and
                         region.name.startswith("MPI_"), region and region.name)
        if isinstance(event, MpiSend):
            check.expect("MpiSend follows its Enter", last_is_enter, region and region.name)
            self.send(rank, event)
        elif isinstance(event, MpiRecv):
            self.receive(rank, event, self.next_post())
        elif isinstance(event, MpiIsend):
            self.begin(rank, event, Request(True, self.send(rank, event)))
        elif isinstance(event, MpiIrecvRequest):
            self.begin(rank, event, Request(False, posted=self.next_post()))
        elif isinstance(event, MpiIsendComplete):
            request = self.end(rank, event)
            check.expect("MpiIsendComplete belongs to an MpiIsend",
                         request is None or request.sends,
                         event.request_id)
        elif isinstance(event, MpiIrecv):
            request = self.end(rank, event)
            check.expect("MpiIrecv belongs to an MpiIrecvRequest",
                         request is None or not request.sends, event.request_id)
            self.receive(rank, event, request.posted if request is not None else 0)
        else:
            request = self.end(rank, event)
            if request is not None and request.sends and request.message is not None:
                key, message = request.message
                self.sent[key].remove(message)
                self.gaps[True][key] = [end for end in self.gaps[True][key] if end[2] != message]

    def next_post(self):
        self.posts += 1
        return self.posts

    @staticmethod
    def gap_of(event):
        return next((value for attribute, value in (event.attributes or {}).items()
                     if attribute.name == "gap"), 0)

    def begin(self, rank, event, request):
        key = (rank, event.request_id)
        self.check.expect("an open request's number is not reused",
                          key not in self.open, key)
        self.open[key] = request

    def end(self, rank, event):
        request = self.open.pop((rank, event.request_id), None)
        self.check.expect("a request completes or is cancelled once, after its post",
                          request is not None, (rank, event.request_id))
        return request

    def peers(self, comm, rank, peer):
        own, other = self.ends_of(comm, rank, peer)
        self.check.expect("a message's rank is a member of its communicator", own is not None,
                          f"{rank} in {comm.name}")
        self.check.expect("a message's peer is a member of its communicator", other is not None,
                          f"{peer} in {comm.name}")
        return own, other

    @staticmethod
    def whose(event, rank):
        """A shared MPI_COMM_SELF would mix up the ranks' messages."""
        group = getattr(event.communicator, "group", None)
        return rank if group is not None and len(group.members) == 0 else None

    def send(self, rank, event):
        own, other = self.peers(event.communicator, rank, event.receiver)
        key = (event.communicator._ref, self.whose(event, rank), own, other, event.msg_tag)
        message = (event.time, event.msg_length)
        self.sent[key].append(message)
        self.gaps[True][key].append((self.next_post(), self.gap_of(event), message))
        return key, message

    def receive(self, rank, event, posted):
        own, other = self.peers(event.communicator, rank, event.sender)
        key = (event.communicator._ref, self.whose(event, rank), other, own, event.msg_tag)
        message = (event.time, event.msg_length)
        self.received[key].append(message)
        self.gaps[False][key].append((posted, self.gap_of(event), message))

    def numbered(self, sends, key):
        """Messages by their numbers among all messages, including those without an event."""
        number, result = 0, {}
        for _, gap, message in sorted(self.gaps[sends][key]):
            number += gap
            result[number] = message
            number += 1
        return result

    def has_gap(self, key):
        return any(gap > 0 for ends in self.gaps.values() for _, gap, _ in ends[key])

    def finish(self):
        check = self.check
        for key, received in self.received.items():
            sent = self.sent[key]
            if self.has_gap(key):
                sends, receives = self.numbered(True, key), self.numbered(False, key)
                both = sends.keys() & receives.keys()
                check.expect("messages beside gaps have the same length at both ends",
                             all(sends[n][1] == receives[n][1] for n in both),
                             f"{key}: {sends} {receives}")
                check.expect("no message beside a gap is received before it was sent",
                             all(sends[n][0] <= receives[n][0] for n in both), key)
                continue
            check.expect("no more messages are received than were sent", len(received) <= len(sent),
                         f"{key}: {len(received)} of {len(sent)}")
            check.expect("no message is received before it was sent",
                         all(one[0] <= other[0] for one, other in
                             zip(sorted(sent), sorted(received))), key)
            check.expect("messages have the same length at both ends",
                         len(received) != len(sent) or
                         sorted(one[1] for one in sent) == sorted(one[1] for one in received), key)
