#!/usr/bin/python3
"""Prints everything that a function of a shared library may reach, from its machine code.

    reach.py LIBRARY [-x FUNCTION]... ROOT...

A root is a function or a table: a variable, for the functions that it points to; TABLE+FROM:TO limits it to
those bytes. Follows calls and jumps, addresses of functions, and the pointers in variables that the code
mentions. Does not follow a call through a pointer from elsewhere: name its possible targets as roots.
Leaves out functions after -x. Prints, sorted:

    external NAME       a function of another library
    indirect FUNCTION   a function reached that calls through a pointer
    reached FUNCTION
"""
import bisect
import re
import subprocess
import sys

SYMBOL = re.compile(r"^\s*\d+: ([0-9a-f]+)\s+(\w+) (FUNC|OBJECT)\s+\S+\s+\S+\s+(\S+) (\S+)")
RELATIVE = re.compile(r"^([0-9a-f]+)\s+[0-9a-f]+ R_X86_64_RELATIVE\s+([0-9a-f]+)")
SLOT = re.compile(
    r"^([0-9a-f]+)\s+[0-9a-f]+ R_X86_64_(?:GLOB_DAT|JUMP_SLO\w*|64)\s+\S+\s+([^\s@]+)")
HEADER = re.compile(r"^([0-9a-f]+) <(.*)>:$")
CODE = re.compile(r"^\s+([0-9a-f]+):\t(\S.*)$")
DIRECT = re.compile(r"^(?:notrack |bnd )*(?:call|j\w+)\s+([0-9a-f]+) <")
INDIRECT = re.compile(r"^(?:notrack |bnd )*(call|jmp)\s+\*")
COMMENT = re.compile(r"# ([0-9a-f]+)(?: <|$)")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


class Library:
    def __init__(self, path):
        self.functions, self.objects = {}, []
        for line in run("readelf", "-sW", path):
            match = SYMBOL.match(line)
            if not match or match[4] == "UND":
                continue
            size = int(match[2], 0)
            if match[3] == "FUNC":
                self.functions[int(match[1], 16)] = match[5]
            else:
                self.objects.append((int(match[1], 16), size, match[5]))
        self.objects.sort()
        self.starts = [start for start, _, _ in self.objects]
        self.pointers, self.slots = {}, {}
        for line in run("readelf", "-rW", path):
            if match := RELATIVE.match(line):
                self.pointers[int(match[1], 16)] = int(match[2], 16)
            elif match := SLOT.match(line):
                self.slots[int(match[1], 16)] = match[2]
        self.code = {}
        block = None
        for line in run("objdump", "-d", "--no-show-raw-insn", "-w", path):
            if match := HEADER.match(line):
                block = self.code.setdefault(int(match[1], 16), [])
                self.functions.setdefault(int(match[1], 16), match[2])
            elif (match := CODE.match(line)) and block is not None:
                block.append(match[2])
        self.blocks = sorted(self.code)

    def block_of(self, address):
        return self.blocks[bisect.bisect_right(self.blocks, address) - 1]

    def name(self, block):
        return self.functions.get(block, "%x" % block)

    def object_at(self, address):
        index = bisect.bisect_right(self.starts, address) - 1
        if index < 0:
            return None
        start, size, _ = self.objects[index]
        return self.objects[index] if start <= address < start + size else None

    def named(self, name):
        """The address of a function or the object of that name."""
        for address, function in self.functions.items():
            if function == name:
                return address
        for item in self.objects:
            if item[2] == name:
                return item
        sys.exit("reach.py: no symbol '%s'" % name)


def walk(library, roots, excluded):
    todo, blocks, tables, followed = [], set(), set(), set()
    externals, indirect = set(), set()

    def reach(address):
        if address in library.slots:
            externals.add(library.slots[address])
        elif address in library.pointers and library.object_at(address) is None:
            if address in followed:
                return
            followed.add(address)
            reach(library.pointers[address])  # an entry of the global offset table
        elif address in library.code or address in library.functions:
            if library.name(address) not in excluded:
                todo.append(address)
        else:
            item = library.object_at(address)
            if item is not None and item not in tables:
                tables.add(item)
                reach_pointers(item[0], item[0] + item[1])

    def reach_pointers(start, end):
        for at in range(start, end):
            if at in library.pointers:
                reach(library.pointers[at])
            if at in library.slots:
                externals.add(library.slots[at])

    for root in roots:
        name, _, part = root.partition("+")
        found = library.named(name)
        if part:
            first, last = map(int, part.split(":"))
            reach_pointers(found[0] + first, found[0] + last)
        else:
            reach(found if isinstance(found, int) else found[0])
    while todo:
        block = library.block_of(todo.pop())
        if block in blocks:
            continue
        blocks.add(block)
        for code in library.code[block]:
            comment = COMMENT.search(code)
            if direct := DIRECT.match(code):
                target = library.block_of(int(direct[1], 16))
                if target != block and library.name(target) not in excluded:
                    todo.append(target)
            elif INDIRECT.match(code) and "@plt" not in library.name(block) and not (
                    comment and int(comment[1], 16) in library.slots):
                indirect.add(library.name(block))
            if comment:
                reach(int(comment[1], 16))
    return blocks, externals, indirect


def main():
    arguments, excluded = sys.argv[2:], set()
    while arguments and arguments[0] == "-x":
        excluded.add(arguments[1])
        arguments = arguments[2:]
    library = Library(sys.argv[1])
    blocks, externals, indirect = walk(library, arguments, excluded)
    lines = ["external " + name for name in externals]
    lines += ["indirect " + name for name in indirect]
    lines += ["reached " + name for name in map(library.name, blocks) if "@plt" not in name]
    print("\n".join(sorted(lines)))


main()
