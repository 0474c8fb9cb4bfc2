"""Runs a command on a terminal of its own, and presses a key once the expected text is shown.

    terminal.py KEY TEXT OUTPUT COMMAND...

Sends KEY once TEXT has appeared; "" sends none. The size is 60 by 12. OUTPUT gets everything sent to the
terminal. Exit status: the command's, 98 if TEXT did not appear, 99 if the terminal's modes were not restored.
"""
import fcntl
import os
import pty
import select
import struct
import sys
import termios

key, text, output = sys.argv[1].encode(), sys.argv[2].encode(), sys.argv[3]
own, its = pty.openpty()
fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 12, 60, 0, 0))
before = termios.tcgetattr(its)
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(its, termios.TIOCSCTTY, 0)
    for descriptor in range(3):
        os.dup2(its, descriptor)
    os.execvp(sys.argv[4], sys.argv[4:])
shown = b""
sent = key == b""
status = None
while status is None:
    ready = select.select([own], [], [], 0.05)[0]
    if ready:
        shown += os.read(own, 65536)
    if not sent and text in shown:
        os.write(own, key)
        sent = True
    done, code = os.waitpid(child, os.WNOHANG)
    if done:
        status = os.waitstatus_to_exitcode(code)
while select.select([own], [], [], 0)[0]:
    shown += os.read(own, 65536)
with open(output, "wb") as file:
    file.write(shown)
if text not in shown:
    sys.exit(98)
sys.exit(status if termios.tcgetattr(its) == before else 99)
