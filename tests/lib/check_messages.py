"""The rules of an archive's messages and requests, for check_archive.py.

Requests have numbers that are unique on a rank while they are open, whichever thread completes them.
Of a communicator, a sender, a receiver and a tag, no more messages are received than were sent, none
before it was sent; if all are received, they have the lengths that were sent.
"""
import collections

from otf2.events import (MpiIrecv, MpiIrecvRequest, MpiIsend, MpiIsendComplete, MpiRecv,
                         MpiRequestCancelled, MpiSend)

MESSAGES = (MpiIrecv, MpiIrecvRequest, MpiIsend, MpiIsendComplete, MpiRecv, MpiRequestCancelled,
            MpiSend)
BEGIN = (MpiSend, MpiIsend, MpiIrecvRequest)


class Request:
    def __init__(self, sends, message=None):
        self.sends = sends
        self.message = message


class Messages:
    def __init__(self, check, rank_in):
        self.check = check
        self.rank_in = rank_in  # (comm, rank of the world): rank in comm, None if it is no member
        self.open = {}          # by (rank, number)
        self.sent = collections.defaultdict(list)  # (time, bytes) by (comm, from, to, tag)
        self.received = collections.defaultdict(list)

    def step(self, rank, event, region, last_is_enter):
        """region: the innermost one that is open on the location, None if there is none."""
        check = self.check
        if isinstance(event, BEGIN):
            check.expect("messages begin in a region of MPI", region is not None and
                         region.name.startswith("MPI_"), region and region.name)
        if isinstance(event, MpiSend):
            check.expect("MpiSend follows its Enter", last_is_enter, region and region.name)
            self.send(rank, event)
        elif isinstance(event, MpiRecv):
            self.receive(rank, event)
        elif isinstance(event, MpiIsend):
            self.begin(rank, event, Request(True, self.send(rank, event)))
        elif isinstance(event, MpiIrecvRequest):
            self.begin(rank, event, Request(False))
        elif isinstance(event, MpiIsendComplete):
            request = self.end(rank, event)
            check.expect("MpiIsendComplete is of an MpiIsend", request is None or request.sends,
                         event.request_id)
        elif isinstance(event, MpiIrecv):
            request = self.end(rank, event)
            check.expect("MpiIrecv is of an MpiIrecvRequest",
                         request is None or not request.sends, event.request_id)
            self.receive(rank, event)
        else:
            request = self.end(rank, event)
            if request is not None and request.sends and request.message is not None:
                key, message = request.message
                self.sent[key].remove(message)

    def begin(self, rank, event, request):
        key = (rank, event.request_id)
        self.check.expect("a request's number is not given again while it is open",
                          key not in self.open, key)
        self.open[key] = request

    def end(self, rank, event):
        request = self.open.pop((rank, event.request_id), None)
        self.check.expect("what completes or is cancelled was posted, and ends once",
                          request is not None, (rank, event.request_id))
        return request

    def peers(self, comm, rank, peer):
        own = self.rank_in(comm, rank)
        self.check.expect("a message is of a member of its communicator", own is not None,
                          f"{rank} in {comm.name}")
        self.check.expect("a message's other end is a member, too",
                          peer < max(1, len(comm.group.members)), f"{peer} in {comm.name}")
        return own

    def send(self, rank, event):
        own = self.peers(event.communicator, rank, event.receiver)
        # One for all ranks, MPI_COMM_SELF would mix up theirs.
        whose = rank if len(event.communicator.group.members) == 0 else None
        key = (event.communicator._ref, whose, own, event.receiver, event.msg_tag)
        message = (event.time, event.msg_length)
        self.sent[key].append(message)
        return key, message

    def receive(self, rank, event):
        own = self.peers(event.communicator, rank, event.sender)
        whose = rank if len(event.communicator.group.members) == 0 else None
        key = (event.communicator._ref, whose, event.sender, own, event.msg_tag)
        self.received[key].append((event.time, event.msg_length))

    def finish(self):
        check = self.check
        for key, received in self.received.items():
            sent = self.sent[key]
            check.expect("no more messages are received than were sent", len(received) <= len(sent),
                         f"{key}: {len(received)} of {len(sent)}")
            check.expect("no message is received before it was sent",
                         all(one[0] <= other[0] for one, other in
                             zip(sorted(sent), sorted(received))), key)
            check.expect("messages are received as long as they were sent",
                         len(received) != len(sent) or
                         sorted(one[1] for one in sent) == sorted(one[1] for one in received), key)
