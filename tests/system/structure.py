#!/usr/bin/python3
"""How the sources of shim and analysis are divided into files, and which files depend on each other
in a loop.

    structure.py [--loops | --symbols BUILD] [ROOT]

A unit is a source and the header of its name (a.c and a.h). Unit A depends on unit B if a.c or a.h
includes b.h. A loop is a largest set of units of which each depends on all others, directly or
through others of the set.

Without options: lines and files of each tree and of the tests, sources under 80 lines, files over 900, and the loops
between units.
--loops: the loops only, one line each.
--symbols: a header that many sources share hides who calls whom. This reads the objects below BUILD:
A depends on B if a.o needs a symbol that b.o defines.
"""
import argparse
import os
import re
import subprocess
import sys

TREES = ["shim", "analysis"]
SHORT_LINES = 80
LONG_LINES = 900
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.MULTILINE)


def read_sources(root):
    """The text of each source and header, by path relative to root."""
    texts = {}
    for tree in TREES:
        for folder, _, names in sorted(os.walk(os.path.join(root, tree))):
            for name in sorted(names):
                if name.endswith((".c", ".h")):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        texts[os.path.relpath(path, root)] = file.read()
    return texts


def find_included(path, name, texts):
    """The file that an include in path refers to: beside it, or below a tree. None: not a project file."""
    for folder in [os.path.dirname(path), *TREES]:
        candidate = os.path.normpath(os.path.join(folder, name))
        if candidate in texts:
            return candidate
    return None


def edges_of_includes(texts):
    edges = {}
    for path, text in texts.items():
        unit = path[:-2]
        edges.setdefault(unit, set())
        for name in INCLUDE.findall(text):
            included = find_included(path, name, texts)
            if included is not None and included[:-2] != unit:
                edges[unit].add(included[:-2])
    return edges


def edges_of_symbols(build, texts):
    """Ignores symbols that several objects define: programs of one tree have their own. Skips objects whose
    source is gone."""
    defined, needed = {}, {}
    for tree in TREES:
        for folder, _, names in os.walk(os.path.join(build, tree)):
            for name in names:
                if not name.endswith(".o"):
                    continue
                path = os.path.join(folder, name)
                unit = os.path.relpath(path, build)[:-2]
                if unit + ".c" not in texts:
                    continue
                needed[unit] = set()
                lines = subprocess.run(["nm", "-P", path], check=True, capture_output=True,
                                       text=True).stdout.splitlines()
                for line in lines:
                    symbol, kind = line.split()[:2]
                    if kind == "U":
                        needed[unit].add(symbol)
                    elif kind.isupper():
                        defined.setdefault(symbol, set()).add(unit)
    return {unit: {definer for symbol in symbols if len(defined.get(symbol, ())) == 1
                   for definer in defined[symbol] if definer != unit}
            for unit, symbols in needed.items()}


def find_loops(edges):
    """Tarjan's strongly connected components of more than one unit, the largest first."""
    index, low, stack, on_stack, loops = {}, {}, [], set(), []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        on_stack.add(unit)
        for other in sorted(edges.get(unit, ())):
            if other not in index:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in on_stack:
                low[unit] = min(low[unit], index[other])
        if low[unit] != index[unit]:
            return
        loop = []
        while not loop or loop[-1] != unit:
            loop.append(stack.pop())
            on_stack.discard(loop[-1])
        if len(loop) > 1:
            loops.append(sorted(loop))

    sys.setrecursionlimit(10000)
    for unit in sorted(edges):
        if unit not in index:
            visit(unit)
    return sorted(loops, key=lambda loop: (-len(loop), loop))


def print_counts(root, texts):
    for tree in TREES:
        lines = {path: text.count("\n") for path, text in texts.items()
                 if path.startswith(tree + "/")}
        print(f"{tree}: {sum(lines.values())} lines, {len(lines)} files, "
              f"{sum(path.endswith('.c') and count < SHORT_LINES for path, count in lines.items())} sources under "
              f"{SHORT_LINES} lines, {sum(count > LONG_LINES for count in lines.values())} files over {LONG_LINES}")
    tests = subprocess.run(["git", "ls-files", "tests"], cwd=root, check=True, capture_output=True,
                           text=True).stdout.split()
    sources = [path for path in tests if re.search(r"(\.(c|h|cc|f90|f|py|sh|bash|mk)|/[a-z_]+)$", path)]
    print(f"tests: {sum(open(os.path.join(root, path), 'rb').read().count(10) for path in sources)} lines, "
          f"{len(sources)} files")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("--symbols", metavar="BUILD")
    parser.add_argument("root", nargs="?",
                        default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    arguments = parser.parse_args()
    texts = read_sources(arguments.root)
    if arguments.symbols:
        loops = find_loops(edges_of_symbols(arguments.symbols, texts))
    else:
        loops = find_loops(edges_of_includes(texts))
    if arguments.loops or arguments.symbols:
        for loop in loops:
            print(" ".join(loop))
        return
    print_counts(arguments.root, texts)
    print(f"loops between files: {len(loops)}, of {sum(map(len, loops))} units")
    for loop in loops:
        print("  " + " ".join(loop))


main()
