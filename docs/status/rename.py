#!/usr/bin/python3
"""Renames identifiers, fields, files and prose by the tables beside it: see rename.sh.

moves        OLD NEW             paths; OLD may hold {a,b}; applied if OLD exists
identifiers  OLD NEW [GLOB,...]  whole words, in the order of the table, the first match counts.
             OLD: word; prefix* (NEW prefix*); struct:WORD only behind struct or enum;
             call:WORD only if "(" follows;  member:WORD only behind . or ->;
             text:WORD in every text, comments and strings included.
             sg_ and SG_ words are replaced in every text; others in code only, not in comments or
             strings. GLOB: of paths after the moves; !GLOB excludes; without: everywhere.
fields       STRUCT OLD NEW      declaration by text, uses where clang says that there is none
prose        GLOB TAB REGEX TAB NEW   in comments and in texts that are not C; with the mark "s:"
             before GLOB in strings of C, with "a:" in everything
"""
import fnmatch
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TABLES = sys.argv[1]
COMPILE = "--no-compile" not in sys.argv
TEXT = re.compile(r"^(shim|analysis|tests|docs|dist|debian|\.ci)/|^(Makefile|CONTRIBUTING\.md|README\.md)$")
C_NAME = re.compile(r"\.(c|h|cc)$")


def run(*command, check=True):
    return subprocess.run(command, check=check, capture_output=True, text=True).stdout


def read_table(name, separator=None):
    path = os.path.join(TABLES, name)
    if not os.path.exists(path):
        return []
    rows = []
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if not line.strip() or line.startswith("#"):
            continue
        rows.append(line.split(separator))
    return rows


def tracked():
    return [p for p in run("git", "ls-files").splitlines() if os.path.isfile(p) and not os.path.islink(p)]


def load(paths):
    texts = {}
    for path in paths:
        if not TEXT.search(path) or "/corpus/" in path or path.startswith("tests/report/golden") or path == "docs/status.md":
            continue
        try:
            texts[path] = open(path, encoding="utf-8").read()
        except UnicodeDecodeError:
            continue
    return texts


def store(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# ---- files ----------------------------------------------------------------------------------

def expand(word):
    match = re.search(r"\{([^}]*)\}", word)
    if not match:
        return [word]
    return [item for part in match.group(1).split(",")
            for item in expand(word[:match.start()] + part + word[match.end():])]


def guard_of(path):
    """The header guard that belongs to a path, less its folders."""
    return re.sub(r"[^A-Z0-9]", "_", os.path.basename(path).upper())


def move_files():
    paths = set(tracked())
    moved, missing = {}, []
    for row in read_table("moves"):
        for old, new in zip(expand(row[0]), expand(row[1])):
            if old.endswith("/"):
                inside = [p for p in sorted(paths) if p.startswith(old)]
                if not inside:
                    missing.append(old)
                for p in inside:
                    if p not in moved:
                        moved[p] = new + p[len(old):]
            elif old in paths:
                moved[old] = new
            else:
                missing.append(old)
    for old, new in list(moved.items()):
        if os.path.exists(new) and new not in moved:
            print(f"move: {new} exists, {old} stays")
            del moved[old]
    for old, new in moved.items():
        os.makedirs(os.path.dirname(new), exist_ok=True)
        run("git", "mv", old, new)
    for item in missing:
        print(f"moves: not found: {item}")
    return moved


def mentions(moved):
    """Rewrites what names a moved file: includes, paths in texts, base names in the same folder."""
    texts = load(tracked())
    back = {new: old for old, new in moved.items()}
    old_names = {}
    for path in [p for p in back.values()] + [p for p in texts if p not in back]:
        old_names.setdefault(os.path.basename(path), set()).add(path)
    suffixes = {}  # by suffix of a path: new suffix; None: several
    for old, new in moved.items():
        variants = [(old, new)]
        if old.count("/") == new.count("/"):
            variants.append((os.path.splitext(old)[0], os.path.splitext(new)[0]))
            # objects and programs of sources
        for o, n in variants:
            o_parts, n_parts = o.split("/"), n.split("/")
            for count in range(2, len(o_parts) + 1):
                if count > len(n_parts):
                    break
                o_suffix, n_suffix = "/".join(o_parts[-count:]), "/".join(n_parts[-count:])
                if o_suffix == n_suffix:
                    continue
                if suffixes.setdefault(o_suffix, n_suffix) != n_suffix:
                    suffixes[o_suffix] = None
    # a suffix that a file which stays has, too, says nothing
    for path in texts:
        if path in back:
            continue
        parts = path.split("/")
        for count in range(2, len(parts) + 1):
            suffixes.pop("/".join(parts[-count:]), None)
    keys = [k for k, v in suffixes.items() if v]
    pattern = None
    if keys:
        pattern = re.compile(r"(?<![\w.-])(" + "|".join(
            re.escape(k) for k in sorted(keys, key=len, reverse=True)) + r")(?![\w-])(?!\.[a-z])")
    for path, text in texts.items():
        before = text
        old_path = back.get(path, path)
        if pattern and (not C_NAME.search(path) or True):
            text = pattern.sub(lambda m: suffixes[m.group(1)], text)
        # base names
        for old, new in moved.items():
            o, n = os.path.basename(old), os.path.basename(new)
            if o == n:
                continue
            same = os.path.dirname(old) == os.path.dirname(old_path)
            alone = len(old_names[o]) == 1 and not C_NAME.search(path)
            if same or alone:
                text = re.sub(r"(?<![\w/.-])" + re.escape(o) + r"(?![\w-])", n, text)
                text = re.sub(r'(?<=\$0"\)/)' + re.escape(o) + r"(?![\w-])", n, text)
        if path in back and path.endswith(".h"):
            old_guard, new_guard = guard_of(old_path), guard_of(path)
            text = re.sub(r"\b(SG_\w*)" + old_guard + r"\b", lambda m: m.group(1) + new_guard, text)
        if text != before:
            store(path, text)


# ---- identifiers ----------------------------------------------------------------------------

TOKEN = re.compile(r'''(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<word>[A-Za-z_]\w*)|(?P<other>.)''', re.DOTALL)
WORD = re.compile(r"[A-Za-z_]\w*")


def matches(path, globs):
    if not globs:
        return True
    wanted = [g for g in globs if not g.startswith("!")]
    if any(fnmatch.fnmatch(path, g[1:]) for g in globs if g.startswith("!")):
        return False
    return not wanted or any(fnmatch.fnmatch(path, g) for g in wanted)


class Rule:
    def __init__(self, row):
        self.old, self.new = row[0], row[1]
        self.globs = row[2].split(",") if len(row) > 2 else []
        self.where, self.everywhere = None, False
        head, _, rest = self.old.partition(":")
        if rest:
            self.old = rest
            if head == "text":
                self.everywhere = True
            else:
                self.where = head
        if self.old.lower().startswith("sg_") and self.where in (None, "struct"):
            self.everywhere = True
        self.prefix = self.old.endswith("*")
        self.row = " ".join(row)
        self.count = 0

    def fits(self, word, before, after, code):
        if not code and not self.everywhere:
            return None
        if self.prefix:
            if not word.startswith(self.old[:-1]):
                return None
            new = self.new[:-1] + word[len(self.old) - 1:] if self.new.endswith("*") else self.new
        else:
            if word != self.old:
                return None
            new = self.new
        if self.where == "struct" and before not in ("struct", "enum", "union"):
            return None
        if self.where == "call" and after != "(":
            return None
        if self.where == "member" and before not in (".", "->"):
            return None
        return new


def rename_words(text, rules, is_c):
    exact, prefixed = {}, []
    for rule in rules:
        if rule.prefix:
            prefixed.append(rule)
        else:
            exact.setdefault(rule.old, []).append(rule)

    def renamed(word, before, after, code):
        for rule in exact.get(word, ()):
            new = rule.fits(word, before, after, code)
            if new is not None:
                rule.count += 1
                return new
        for rule in prefixed:
            new = rule.fits(word, before, after, code)
            if new is not None:
                rule.count += 1
                return new
        return word

    def in_text(piece):
        def one(m):
            before = re.search(r"(struct|enum|union)\s+$", piece[:m.start()][-12:])
            after = piece[m.end():m.end() + 1]
            if m.group().startswith("DSG_") and piece[:m.start()].endswith("-"):
                return "D" + renamed(m.group()[1:], "", after, False)
            return renamed(m.group(), before.group(1) if before else "", after, False)
        return WORD.sub(one, piece)

    if not is_c:
        return in_text(text)
    out, before = [], ""
    for m in TOKEN.finditer(text):
        kind, piece = m.lastgroup, m.group()
        if kind == "word":
            rest = text[m.end():m.end() + 1]
            new = renamed(piece, before, rest, True)
            out.append(new)
            before = piece
        elif kind == "other":
            out.append(piece)
            if not piece.isspace():
                before = "->" if piece == ">" and before == "-" else piece
        else:
            out.append(in_text(piece))
    return "".join(out)


def rename_identifiers():
    rules = [Rule(row) for row in read_table("identifiers")]
    for path, text in load(tracked()).items():
        mine = [r for r in rules if matches(path, r.globs)]
        is_c = bool(C_NAME.search(path)) or path.endswith(".patch")
        new = rename_words(text, mine, is_c)
        if new != text:
            store(path, new)
    for rule in rules:
        if rule.count == 0:
            print(f"identifiers: not found: {rule.row}")


# ---- fields ---------------------------------------------------------------------------------

def body_of(text, struct):
    """Where the body of a struct is; None."""
    m = re.search(r"\bstruct\s+" + struct + r"\s*\{", text)
    if not m:
        return None
    depth, at = 1, m.end()
    while at < len(text) and depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return m.end(), at


def rename_fields():
    wanted, names = {}, set()
    texts = load(tracked())
    for row in read_table("fields"):
        struct, old, new = row[:3]
        found = False
        for path in [p for p in texts if C_NAME.search(p)]:
            if len(row) > 3 and not matches(path, row[3].split(",")):
                continue
            where = body_of(texts[path], struct)
            if not where:
                continue
            body = texts[path][where[0]:where[1]]
            rule = Rule([old, new])
            rule.everywhere = False
            changed = rename_words(body, [rule], True)
            if not rule.count and re.search(r"\b" + new + r"\b", body):
                found = True  # by the table of identifiers; uses may be left
            if rule.count:
                found = True
                texts[path] = texts[path][:where[0]] + changed + texts[path][where[1]:]
                store(path, texts[path])
        if found:
            wanted[struct, old] = new
            names.add(old)
        else:
            print(f"fields: not found: {struct}.{old}")
    if not wanted or not COMPILE:
        return
    flags = ["-std=gnu11", "-D_GNU_SOURCE", '-DSG_VERSION="x"', '-DSG_COMMIT="x"', "-Ishim", "-Ianalysis",
             "-Itests", "-I.", "-mavx2", "-mavx512f", "-fsyntax-only", "-w", "-ferror-limit=0",
             "-fno-caret-diagnostics", "-fno-color-diagnostics"]
    mpicc = run(".ci/find-mpi", "cc", check=False).strip()
    show = run(mpicc, "-show", check=False).split() if mpicc else []
    flags += [f for f in show if f.startswith("-I")] or ["-I/usr/include/x86_64-linux-gnu/mpich"]
    absent = re.compile(r"^([^:\n]+):(\d+):(\d+): (?:error|note): (?:no member named '(\w+)' in '(?:const |volatile )*"
                        r"(?:struct )?(\w+)'|field designator '(\w+)' does not refer to any field in type "
                        r"'(?:const |volatile )*(?:struct )?(\w+)'|expanded from macro)", re.M)
    error = re.compile(r"^([^:\n]+):(\d+):(\d+): error: (?:no member named '(\w+)' in '(?:const |volatile |_Atomic )*"
                       r"(?:struct )?(\w+)'|field designator '(\w+)' does not refer to any field in type "
                       r"'(?:const |volatile )*(?:struct )?(\w+)')", re.M)

    def compile_one(path):
        extra = []
        if path.startswith("shim/internode/decisions"):
            extra = ["-DSG_SPAN_DECISIONS=1", "-DSG_INTERNODE_DECISIONS=1"]
        return subprocess.run(["clang", *flags, *extra, path], capture_output=True, text=True).stderr

    any_name = re.compile(r"\b(" + "|".join(map(re.escape, names)) + r")\b")
    todo = None
    for turn in range(12):
        texts = load(tracked())
        sources = [p for p in texts if p.endswith(".c")]
        if todo is None:
            use = re.compile(r"(?:\.|->)\s*(?:" + "|".join(map(re.escape, names)) + r")\b")
            todo = [p for p in sources if use.search(texts[p])]
            for header in [p for p in texts if p.endswith(".h") and use.search(texts[p])]:
                tail = "/".join(header.split("/")[-2:])
                users = [p for p in sources if tail + '"' in texts[p] or
                         ('"' + os.path.basename(header) + '"' in texts[p])]
                todo += users[:3]
            todo = sorted(set(todo))
        with ThreadPoolExecutor(2) as pool:
            outputs = dict(zip(todo, pool.map(compile_one, todo)))
        edits, again, odd = {}, [], set()
        for path, output in outputs.items():
            hit = False
            for m in error.finditer(output):
                file, line, column = os.path.normpath(m.group(1)), int(m.group(2)), int(m.group(3))
                old, struct = (m.group(4), m.group(5)) if m.group(4) else (m.group(6), m.group(7))
                new = wanted.get((struct, old))
                if new is None:
                    odd.add(m.group(0))
                    continue
                edits.setdefault(file, set()).add((line, column, old, new))
                hit = True
            if hit:
                again.append(path)
        count = 0
        for file, places in edits.items():
            lines = open(file, encoding="utf-8").read().split("\n")
            for line, column, old, new in sorted(places, reverse=True):
                text = lines[line - 1]
                at = text.find(old, column - 1)
                if not re.match(re.escape(old) + r"\b", text[column - 1:]):
                    # in a macro's use or a designator: the next word of that name in the line
                    m = re.search(r"(?<=[.>])" + old + r"\b", text[column - 1:])
                    at = column - 1 + m.start() if m else -1
                if at < 0:
                    defined = fix_macro(lines, old, new)
                    if not defined:
                        odd.add(f"{file}:{line}:{column}: {old} is not written there")
                    continue
                lines[line - 1] = text[:at] + new + text[at + len(old):]
                count += 1
            store(file, "\n".join(lines))
        print(f"fields: turn {turn + 1}: {len(todo)} sources, {count} uses")
        for text in sorted(odd):
            print(f"fields: {text}")
        if not count:
            break
        todo = again


def fix_macro(lines, old, new):
    """A use within a macro that is defined in the file."""
    done = False
    inside = False
    for i, line in enumerate(lines):
        if re.match(r"\s*#\s*define", line):
            inside = True
        if inside:
            changed = re.sub(r"(?<=[.>])" + old + r"\b", new, line)
            done |= changed != line
            lines[i] = changed
            inside = line.endswith("\\")
    return done


# ---- prose ----------------------------------------------------------------------------------

def rename_prose():
    rows = []
    for row in read_table("prose", "\t"):
        if len(row) != 3:
            print(f"prose: not three columns: {row}")
            continue
        mode, glob = "c", row[0]
        if glob[:2] in ("s:", "a:"):
            mode, glob = glob[0], glob[2:]
        rows.append([mode, glob.split(","), re.compile(row[1], re.MULTILINE), row[2], 0, "\t".join(row)])
    for path, text in load(tracked()).items():
        mine = [r for r in rows if matches(path, r[1])]
        if not mine:
            continue
        before = text

        def apply(piece, modes):
            for row in mine:
                if row[0] in modes:
                    piece, count = row[2].subn(row[3], piece)
                    row[4] += count
            return piece
        if C_NAME.search(path):
            out = []
            for m in TOKEN.finditer(text):
                if m.lastgroup == "comment":
                    out.append(apply(m.group(), "c"))
                elif m.lastgroup == "string":
                    out.append(apply(m.group(), "s"))
                else:
                    out.append(m.group())
            text = apply("".join(out), "a")
        else:
            text = apply(text, "ca")
        if text != before:
            store(path, text)
    for row in rows:
        if row[4] == 0:
            print(f"prose: not found: {row[5]}")


# ---- layout ---------------------------------------------------------------------------------

def wrap_comments(text):
    """Comment paragraphs with a line over 100 columns are filled anew from that line on."""
    def one(m):
        comment = m.group()
        if m.lastgroup != "comment" or not any(len(l) > 100 for l in full_lines(m)):
            return comment
        before = text[text.rfind("\n", 0, m.start()) + 1:m.start()]
        if before.strip():
            if "\n" not in comment:
                lifted.append((m.start(), m.end()))
            return comment
        return fill(comment, len(before))

    def full_lines(m):
        begin = text.rfind("\n", 0, m.start()) + 1
        return text[begin:m.end()].split("\n")
    lifted = []
    TOKEN.sub(one, text)
    for begin, end in reversed(lifted):
        line = text.rfind("\n", 0, begin) + 1
        code = text[line:begin].rstrip()
        indent = code[:len(code) - len(code.lstrip())]
        text = text[:line] + indent + text[begin:end] + "\n" + code + text[end:]
    return TOKEN.sub(one, text)


def fill(comment, indent):
    """Words behind column 100 go to the next line of their paragraph, or to one of their own."""
    if comment.startswith("//"):
        return comment
    lines = comment.split("\n")
    margin = " " * indent + " * "
    i = 0
    while i < len(lines):
        room = 100 - (indent if i == 0 else 0)
        line = lines[i]
        if len(line) <= room:
            i += 1
            continue
        rule = re.match(r"(.*?)-{4,}( \*/)?$", line)
        if rule and not line.lstrip().startswith("/* -----"):
            tail = rule.group(2) or ""
            lines[i] = rule.group(1) + "-" * (room - len(rule.group(1)) - len(tail)) + tail
            i += 1
            continue
        cut = line.rfind(" ", 0, room + 1)
        if line[cut + 1:] == "*/":
            cut = line.rfind(" ", 0, cut)
        if cut <= len(margin):
            i += 1
            continue
        head, tail = line[:cut].rstrip(), line[cut + 1:]
        own = re.match(r"( *\* *|/\* *)", head).group(1)
        own = margin if i == 0 else own
        item = re.match(r"(\S+ {2,}|\S+(?: \S+)? {2,})\S", head[len(own):]) if i else None
        following = re.match(r"( *\* +)(\S.*)$", lines[i + 1]) if i + 1 < len(lines) else None
        same = following and (len(following.group(1)) > len(own) if item
                              else following.group(1) == own)
        lines[i] = head
        if same and not tail.endswith("*/"):
            lines[i + 1] = following.group(1) + tail + " " + following.group(2)
        else:
            lines.insert(i + 1, (own + " " * len(item.group(1)) if item else own) + tail)
        i += 1
    return "\n".join(lines)


def lay_out():
    changed = [p for p in run("git", "diff", "HEAD", "--name-only", "--diff-filter=d").splitlines() if C_NAME.search(p)]
    if not changed:
        return
    run("clang-format", "-i", *changed)
    for path in changed:
        text = open(path, encoding="utf-8").read()
        new = wrap_comments(text)
        if new != text:
            store(path, new)
    run("clang-format", "-i", *changed)
    for path in changed:
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            if len(line.rstrip("\n")) > 100:
                print(f"over 100 columns: {path}:{number}")
        if number > 500 and path.startswith(("shim", "analysis")):
            print(f"over 500 lines: {path} ({number})")


def leftovers():
    words = [r[0] for r in read_table("leftover")]
    if not words:
        return
    pattern = re.compile(r"(?<![A-Za-z0-9])(" + "|".join(words) + r")(?![A-Za-z0-9])", re.I)
    counts = {}
    for path, text in load(tracked()).items():
        if not C_NAME.search(path):
            continue
        for m in TOKEN.finditer(text):
            if m.lastgroup == "word" and pattern.search(m.group()):
                counts.setdefault(m.group(), {}).setdefault(path, 0)
                counts[m.group()][path] += 1
    for word in sorted(counts):
        where = sorted(counts[word].items(), key=lambda i: -i[1])
        print(f"left over: {word}: " + ", ".join(f"{p} ({n})" for p, n in where[:4]) +
              (f", {len(where) - 4} more files" if len(where) > 4 else ""))


def sort_loops():
    """Units of a loop stay in their order when their names change."""
    path = "tests/system/loops"
    if not os.path.exists(path):
        return
    lines = open(path, encoding="utf-8").read().split("\n")
    for i, line in enumerate(lines):
        m = re.match(r"(includes|symbols): (\S[^#]*?)( *#.*)$", line)
        if m:
            lines[i] = f"{m.group(1)}: {' '.join(sorted(m.group(2).split()))}{m.group(3)}"
    store(path, "\n".join(lines))


def main():
    moved = move_files()
    mentions(moved)
    rename_identifiers()
    rename_fields()
    rename_prose()
    sort_loops()
    lay_out()
    leftovers()
    run("git", "add", "-A", "--", "shim", "analysis", "tests", "docs", "dist", "debian", "Makefile")


main()
