#!/usr/bin/python3
"""Compares the lists of files that a call visits (docs/architecture.md) with the sources.

    call_path.py PAGE [ROOT]

A list is what follows a heading "### ... visits", one file a line, in the order of the visit:

    1. `PATH`: what it does
    2. `PATH`, through `struct TABLE`: what it does

Each file of a list must exist and be in it once. Of each but the first a file before it in the list
calls, or passes on, a function that it defines. Through a table: it defines an object of that
struct, and a file before it reads a member of the struct that points to a function.
"""
import argparse
import os
import re
import sys

HEADING = re.compile(r"^### (.* visits)$")
ITEM = re.compile(r"^\d+\. `([^`]+)`(?:, through `struct (\w+)`)?: \S")
COMMENT_OR_STRING = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
WORD = re.compile(r"[A-Za-z_]\w*")
FUNCTION = re.compile(r"(?<![\w$])([A-Za-z_]\w*)\s*\([^;{}]*\)\s*$")


def read_lists(page):
    """[(heading, [(number of the line, path, table or None)])]"""
    lists, items = [], None
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            heading = HEADING.match(line)
            if heading:
                items = []
                lists.append((heading.group(1), items))
            elif line.startswith("#"):
                items = None
            elif items is not None and re.match(r"\d+\. ", line):
                item = ITEM.match(line)
                if item is None:
                    sys.exit(f"{page}:{number}: not a file of a call: {line.rstrip()}")
                items.append((number, item.group(1), item.group(2)))
    return lists


class Source:
    """A file's definitions outside of functions, and the names used inside of them."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text = COMMENT_OR_STRING.sub(lambda match: "\n" * match.group().count("\n"), text)
        macros = "\n".join(line for line in DIRECTIVE.findall(text) if "define" in line)
        outside, inside = self.divide(DIRECTIVE.sub("", text))
        self.inside = "\n".join(inside) + "\n" + macros
        self.mentions = set(WORD.findall(self.inside))
        self.outside = outside
        self.functions = set()
        for piece in outside:
            function = FUNCTION.search(piece)
            words = WORD.findall(piece)
            if function and ("static" not in words or path.endswith(".h")):
                self.functions.add(function.group(1))

    @staticmethod
    def divide(text):
        """The text before each outermost brace since the last ; or }, and the text inside the braces."""
        outside, inside, depth, begin = [], [], 0, 0
        for match in re.finditer(r"[{};]", text):
            if match.group() == "{":
                if depth == 0:
                    outside.append(text[begin:match.start()])
                    begin = match.end()
                depth += 1
            elif match.group() == "}":
                depth -= 1
                if depth == 0:
                    inside.append(text[begin:match.start()])
                    begin = match.end()
            elif depth == 0:
                begin = match.end()
        return outside, inside

    def defines_table(self, table):
        return any(re.search(rf"\bstruct\s+{table}\s+\w+(\[[^\]]*\])?\s*=\s*$", piece)
                   for piece in self.outside)

    def reads_member(self, members):
        return any(re.search(rf"(->|\.)\s*{member}\b(?!\s*=[^=])", self.inside)
                   for member in members)


def functions_of_table(root, table):
    """Members of a struct in any header that point to functions."""
    for folder, _, names in os.walk(os.path.join(root, "shim")):
        for name in names:
            if not name.endswith(".h"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = COMMENT_OR_STRING.sub("", file.read())
            body = re.search(rf"\bstruct\s+{table}\s*\{{(.*?)\n\}}", text, re.DOTALL)
            if body:
                return re.findall(r"\(\*(\w+)\)\s*\(", body.group(1))
    return []


def check_list(root, page, heading, items):
    """Complaints about one list."""
    complaints, before, sources = [], [], {}
    if not items:
        complaints.append(f"{page}: {heading}: no files")
    for number, path, table in items:
        at = f"{page}:{number}: {path}"
        if not os.path.isfile(os.path.join(root, path)):
            complaints.append(f"{at}: there is no such file")
            continue
        if path in before:
            complaints.append(f"{at}: is in the list twice")
        source = sources[path] = Source(os.path.join(root, path))
        callers = [sources[other] for other in before]
        if not before:
            pass
        elif table is None:
            if not any(caller.mentions & source.functions for caller in callers):
                complaints.append(f"{at}: no file before it in the list calls a function of it")
        elif not source.defines_table(table):
            complaints.append(f"{at}: defines no struct {table}")
        else:
            members = functions_of_table(root, table)
            if not any(caller.reads_member(members) for caller in callers):
                complaints.append(f"{at}: no file before it in the list calls through "
                                  f"struct {table}")
        before.append(path)
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page")
    parser.add_argument("root", nargs="?",
                        default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    arguments = parser.parse_args()
    lists = read_lists(arguments.page)
    if len(lists) < 2:
        sys.exit(f"{arguments.page}: {len(lists)} lists of files that a call visits, not 2")
    complaints = [complaint for heading, items in lists
                  for complaint in check_list(arguments.root, arguments.page, heading, items)]
    for complaint in complaints:
        print(complaint)
    sys.exit(1 if complaints else 0)


main()
