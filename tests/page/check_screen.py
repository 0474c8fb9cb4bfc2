"""Compares the page's first screen with the report's: check_screen.py PAGE TEXT.

PAGE is what check_page.py printed, TEXT the report's first screen. Each piece of each line is on the
page; call sites are rows of its table in the same order. Blanks do not count. The page has whole
texts where the first screen has room for "computing -> b" of "computing a -> b", or for "sol..er.c".
"""
import json
import re
import sys

TABLES = ("Where ranks wait for others", "Time in MPI by call site")


def plain(text):
    return re.sub(r"\s+", " ", text).strip()


def pieces(line):
    """A line's texts: a path, a label and its text, figures with their names."""
    line = re.sub(r"^note: ", "", line.strip())
    return [piece for piece in re.split(r"\s{2,}|\s*= | x (?=serialization|transfer)|, (?=[0-9.]+ [mun]?s )", line) if piece]


def rows_of(lines):
    """The lines of the table of call sites, and the others."""
    start = next((i for i, line in enumerate(lines) if line.startswith(TABLES) and "of run" in line), len(lines))
    end = next((i for i in range(start, len(lines)) if not lines[i].strip() or " more site" in lines[i]), len(lines))
    return lines[start + 1:end], lines[:start] + lines[end:]


def is_row(shown, line):
    """True if the page's row is the line with what that leaves out."""
    of_line = re.escape(plain(line)).replace(r"\.\.", ".*").replace(r"\ \->", r"(?: \S+)?\ \->")
    return re.fullmatch(of_line, shown) is not None


def main():
    with open(sys.argv[1], encoding="utf-8") as page, open(sys.argv[2], encoding="utf-8") as text:
        page, lines = json.load(page), text.read().split("\nmore: ")[0].splitlines()
    rows, others = rows_of(lines)
    program, lines[0] = lines[0].split(", ", 1)
    others = [program, lines[0]] + others[1:]
    everything = plain(page["text"])
    wrong = [piece for line in others for piece in pieces(line) if plain(piece) not in everything]
    shown = [plain(" ".join(cell["text"] for cell in row)) for row in page["tables"].get("where", [])[1:]]
    if len(shown) != len(rows) or not all(map(is_row, shown, rows)):
        wrong.append(f"{shown} instead of {rows}")
    print(*wrong, sep="\n")
    sys.exit(1 if wrong or len(others) < 4 else 0)


if __name__ == "__main__":
    main()
