#!/usr/bin/python3
"""Finds comments that a reader has to decode (docs/style.md): those that begin with a clause for a noun.

    english.py [--count] [FILE...]

Without FILE: all sources. Prints FILE:LINE: and the comment's beginning for each that begins with What,
Of, Who, Whoever, Whose, Where, That or How. --count: their number by word.
"""
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/', re.DOTALL)
CLAUSE = re.compile(r"(What|Of|Who|Whoever|Whose|Where|That|How)\b(?! (?:to|is|are)\b[^.]*\?)")


def comments(text):
    """The line and the words of each comment."""
    for match in COMMENT.finditer(text):
        if match.group().startswith("/*"):
            words = re.sub(r"\n[ \t]*\*[ \t]?", " ", match.group()[2:-2]).strip(" *-\n\t")
            yield text.count("\n", 0, match.start()) + 1, " ".join(words.split())


def main():
    arguments = sys.argv[1:]
    counts = "--count" in arguments
    paths = [path for path in arguments if path != "--count"] or subprocess.run(
        ["git", "ls-files", "shim/*.[ch]", "analysis/*.[ch]", "tests/*.[ch]"], cwd=ROOT, check=True,
        capture_output=True, text=True).stdout.split()
    by_word = collections.Counter()
    for path in paths:
        for line, words in comments(open(os.path.join(ROOT, path), encoding="utf-8").read()):
            match = CLAUSE.match(words)
            if match is None:
                continue
            by_word[match.group(1)] += 1
            if not counts:
                print(f"{path}:{line}: {words[:100]}")
    if counts:
        print(", ".join(f"{word} {number}" for word, number in by_word.most_common()), "all", sum(by_word.values()))
    sys.exit(bool(by_word) and not counts)


main()
