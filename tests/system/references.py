#!/usr/bin/python3
"""Finds references to documents that do not exist: links of Markdown files, with their sections, and
chapters of docs/decisions that any file names (decisions/NN, decisions/NN-name.md).

    references.py [FILE...]

Without FILE: all files of the tree. Prints FILE: and the reference.
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CHAPTERS = re.compile(r"decisions/(\d+(?:-[\w-]+\.md)?(?:, \d\d)*)")


def section(title):
    """The section's name in a link, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def sections(path):
    with open(path, encoding="utf-8") as file:
        return {section(match) for match in re.findall(r"^#+ (.*)$", file.read(), re.MULTILINE)}


def broken_links(path, text):
    for link in LINK.findall(text):
        name, _, wanted = link.partition("#")
        target = os.path.join(os.path.dirname(path), name) if name else path
        if "://" not in link and (not os.path.exists(target) or wanted and wanted not in sections(target)):
            yield link


def absent_chapters(text):
    for found in CHAPTERS.findall(text):
        for chapter in found.split(", "):
            pattern = chapter if chapter.endswith(".md") else chapter + "-*.md"
            if not glob.glob(os.path.join(ROOT, "docs/decisions", pattern)):
                yield "decisions/" + chapter


def main():
    names = sys.argv[1:] or subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True,
                                           text=True).stdout.splitlines()
    broken = False
    for name in names:
        path = os.path.join(ROOT, name)
        if not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        for reference in [*(broken_links(path, text) if name.endswith(".md") else ()), *absent_chapters(text)]:
            print(f"{name}: {reference}")
            broken = True
    sys.exit(broken)


main()
