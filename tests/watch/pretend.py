"""Poses as the writer of copied logs: holds the lock on each rank-*.log of a directory.

    pretend.py DIR

Prints a line once it holds them. Then executes each input line and answers with a line: "cut NAME BYTES"
truncates a log, "spoil NAME" overwrites its header, "remove NAME" removes it. Ends at the end of its input.
"""
import fcntl
import glob
import os
import struct
import sys

F_OFD_SETLK = 37
held = [open(name, "r+b") for name in sorted(glob.glob(sys.argv[1] + "/rank-*.log"))]
for file in held:
    fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))
print("held", flush=True)
for line in sys.stdin:
    order, name, *rest = line.split()
    name = os.path.join(sys.argv[1], name)
    if order == "cut":
        os.truncate(name, int(rest[0]))
    elif order == "spoil":
        with open(name, "r+b") as file:
            file.write(b"\xff" * 64)
    elif order == "remove":
        os.remove(name)
    print(order, flush=True)
