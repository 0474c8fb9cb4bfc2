#!/usr/bin/python3
"""Finds sentences that a reader has to decode (docs/style.md): those that begin with a clause for a noun.

    english.py [--count] [FILE...]

Without FILE: all sources, test scripts and documents. Prints FILE:LINE: and the beginning of each comment,
TEST("...") of a C test, docstring of a test in Python, and check or skip sentence of a script that begins with
What, Of, Who, Whoever, Whose, Where, That or How; a sentence may have "... " or "and " before it. Likewise of
the product's texts, and of sentences, headings and cells of documents, but not That and How, and no questions.
--count: their number by word.
"""
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/', re.DOTALL)
WORDS = "What|Of|Who|Whoever|Whose|Where|That|How"
CLAUSE = re.compile(rf"({WORDS})\b(?! (?:to|is|are)\b[^.]*\?)")
NAME_CLAUSE = re.compile(rf"(?:\.\.\. ?|and )*({WORDS})\b", re.IGNORECASE)
TEST_NAME = re.compile(r'^TEST\(\s*"((?:\\.|[^"\\\n])*)"', re.MULTILINE)
TEXT = re.compile(r'^[^#\n]*?"((?:What|Who|Whoever|Whose|Where)\b(?:\\.|[^"\\\n])*)"', re.MULTILINE)
DOCUMENT = re.compile(r"(?:^(?:[-*#>] ?)*|[.:;!?] +|\| *)(?:\*\*)?"
                      r"((?:What|Of|Who|Whoever|Whose|Where)\b[^.?|\n]*\??)", re.MULTILINE)
TITLES = ("Where ranks wait for others", "What would help")  # of the first screen: a reader's questions
STATEMENT = re.compile(rf"({WORDS})\b(?!.*\?$)")
SENTENCE = re.compile(r'^(?!\s*#).*?\b(?:check|skip)\s+"((?:\\.|[^"\\])*)"', re.MULTILINE)
DOCSTRING = re.compile(r'^def test_.*:\n    """(.*?)"""', re.MULTILINE)


def comments(text):
    """The line and the words of each comment."""
    for match in COMMENT.finditer(text):
        if match.group().startswith("/*"):
            words = re.sub(r"\n[ \t]*\*[ \t]?", " ", match.group()[2:-2]).strip(" *-\n\t")
            yield text.count("\n", 0, match.start()) + 1, " ".join(words.split())


def names(pattern, text):
    """The line and the words of each name of a test."""
    for match in pattern.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match.group(1)


def clauses(path):
    """The line, the words and the first word of each comment and name of a test that begins with a clause."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".py"):
        parts = [(NAME_CLAUSE, names(DOCSTRING, text))]
    elif path.endswith((".sh", ".bash")):
        parts = [(NAME_CLAUSE, names(SENTENCE, text))]
    elif not path.endswith((".c", ".h")):
        text = re.sub(r"```.*?```", lambda block: "\n" * block.group().count("\n"), text, flags=re.DOTALL)
        parts = [(STATEMENT, names(DOCUMENT, text))]
    else:
        parts = [(CLAUSE, comments(text)), (NAME_CLAUSE, names(TEST_NAME, text))]
        if not path.startswith("tests/"):
            parts.append((STATEMENT, names(TEXT, text)))
    for clause, found in parts:
        for line, words in found:
            match = clause.match(words)
            if match is not None and words not in TITLES:
                yield line, words, match.group(1).capitalize()


def main():
    arguments = sys.argv[1:]
    counts = "--count" in arguments
    paths = [path for path in arguments if path != "--count"] or subprocess.run(
        ["git", "ls-files", "shim/*.[ch]", "analysis/*.[ch]", "tests/*.[ch]", "tests/*.sh", "tests/*.bash",
         "tests/*/test_*.py", "*.md",
         "docs/*.[1-7]"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    by_word = collections.Counter()
    for path in paths:
        for line, words, first in clauses(path):
            by_word[first] += 1
            if not counts:
                print(f"{path}:{line}: {words[:100]}")
    if counts:
        print(", ".join(f"{word} {number}" for word, number in by_word.most_common()), "all", sum(by_word.values()))
    sys.exit(bool(by_word) and not counts)


main()
