#!/usr/bin/python3
"""Watches the last rank of the program "stopped" stop itself, and resumes it once the others have slept for
a while:

    stopped.py DIRECTORY RANKS SECONDS CALL...

DIRECTORY holds the ranks' process numbers. A rank rests when it has slept a few times since the stop. Prints for
each call the others' share of a processor. Exits with 1 if they do not rest in time; the program then ends, too.
"""
import os
import signal
import sys
import time

TIMES = 50  # that a rank sleeps
PATIENCE_S = 300
LOOK_S = 0.005
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def stat(process):
    """The fields after the name; the state is first."""
    return read(f"/proc/{process}/stat").rpartition(")")[2].split()


def used_s(process):
    fields = stat(process)
    return (int(fields[11]) + int(fields[12])) * TICK_S


def switches(process):
    """Counts the sleeps of the first thread, which calls MPI; a yield does not count."""
    for line in read(f"/proc/{process}/task/{process}/status").splitlines():
        if line.startswith("voluntary_ctxt_switches:"):
            return int(line.split()[1])
    raise ValueError("no count of switches")


def wait_until(holds, what):
    end_s = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end_s:
            raise TimeoutError(what)
        time.sleep(LOOK_S)


def look_on(call, others, last, seconds):
    wait_until(lambda: stat(last)[0] == "T", f"{call}: the last rank has not stopped")
    begin_s = time.monotonic()
    before = {process: (switches(process), used_s(process)) for process in others}
    for rank, process in enumerate(others):
        wait_until(lambda process=process: switches(process) >= before[process][0] + TIMES,
                   f"{call}: rank {rank} does not rest")
    while time.monotonic() < begin_s + seconds:
        time.sleep(LOOK_S)
    took_s = time.monotonic() - begin_s
    shares = [(used_s(process) - before[process][1]) / took_s for process in others]
    print(f"# {call}: stopped for {took_s:.2f} s; of a processor the others took "
          + ", ".join(f"{share:.0%}" for share in shares), flush=True)


def main():
    directory, ranks, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    names = [os.path.join(directory, str(rank)) for rank in range(ranks)]
    wait_until(lambda: all(os.path.exists(name) for name in names), "the ranks have not started")
    *others, last = [int(read(name)) for name in names]
    for call in sys.argv[4:]:
        try:
            look_on(call, others, last, seconds)
        except TimeoutError:
            os.kill(last, signal.SIGKILL)
            raise
        os.kill(last, signal.SIGCONT)


try:
    main()
except (TimeoutError, OSError) as error:
    sys.exit(f"stopped: {error}")
