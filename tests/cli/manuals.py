"""Compares the manual pages with the programs' own output, in both directions.

    manuals.py commands|options|algorithms|columns STAGGER STAGGER-BENCH DOCS

Prints a line for each entry that only one side has; exits with 1 if there is any.
"""
import os
import re
import subprocess
import sys

STAGGER, BENCH, DOCS = sys.argv[2:5]
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z?][\w-]*")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True,
                          check=False)


def plain(line):
    """Strips macros and fonts from a line of a page."""
    line = re.sub(r"^\.(B|I|BR|BI|IR|IB|RB|RI) ", "", line)
    line = re.sub(r"\\f\(?[A-Z]", "", line.replace("\\-", "-").replace("\\&", "").replace('"', ""))
    return line.strip()


class Page:
    """A page's sections, each a list of (depth, tag, text) for its tagged paragraphs."""

    def __init__(self, name):
        self.sections = {}
        self.source = open(f"{DOCS}/{name}", encoding="utf-8").read()
        lines = iter(self.source.split("\n"))
        depth, items = 0, []
        for line in lines:
            word = line.split(" ")[0]
            if word == ".SH":
                items = self.sections.setdefault(plain(line[4:]), [])
            elif word == ".TP":
                items.append([depth, plain(next(lines)), ""])
            elif word in (".RS", ".RE"):
                depth += 1 if word == ".RS" else -1
            elif word in (".PP", ".SS"):
                items.append([depth, None, plain(line[4:])])
            elif items:
                items[-1][2] += " " + plain(line)

    def tags(self):
        return [tag for items in self.sections.values() for _, tag, _ in items if tag is not None]


def help_of(*words):
    """The commands and options listed by --help."""
    text = run(*words, "--help").stdout
    commands = re.findall(r"^  ([a-z][a-z-]*) {2,}", text.partition("\ncommands:")[2], re.M)
    options = set()
    for line in re.findall(r"^ +(-.*)", text, re.M):
        options.update(OPTION.findall(re.split(r"(?<=\S) {2,}", line)[0]))
    for command in commands:
        if len(words) > 1: # of a command's own commands
            options |= help_of(*words, command)[1]
    return commands, options


def differences(what, said, written):
    return ([f"{what}: {one} is not in the page" for one in sorted(said - written)] +
            [f"{what}: {one} is in the page alone" for one in sorted(written - said)])


def commands():
    said = {f"stagger-{command}.1" for command in help_of(STAGGER)[0]}
    pages = {name for name in os.listdir(DOCS) if name.endswith(".1")}
    whole = Page("stagger.1")
    listed = {tag.split()[0] for _, tag, _ in whole.sections["COMMANDS"] if tag is not None}
    return (differences("pages", said | {"stagger.1", "stagger-bench.1"}, pages) +
            differences("stagger.1", {page[8:-2] for page in said}, listed))


def options():
    wrong = []
    programs = [(["stagger-bench.1"], (BENCH,))] + [
        ([f"stagger-{command}.1"], (STAGGER, command)) for command in help_of(STAGGER)[0]]
    for (page,), words in programs:
        said = help_of(*words)[1]
        if not said:
            wrong.append(f"{page}: its --help lists no option")
        if not os.path.exists(f"{DOCS}/{page}"):
            continue # commands() tells
        written = {option for tag in Page(page).tags() for option in OPTION.findall(tag)}
        wrong += differences(page, said, written)
    said = set(OPTION.findall(run(STAGGER, "--help").stdout.partition("commands:")[2])) - {"-n"}
    tags = {tag for _, tag, _ in Page("stagger.1").sections["OPTIONS"] if tag is not None}
    written = {option for tag in tags for option in OPTION.findall(tag) if len(option) > 2}
    return wrong + differences("stagger.1", said, written)


def parameters_of(items, start):
    """Paragraphs tagged one level below, up to the next tag or paragraph of the same level."""
    found = {}
    for depth, tag, body in items[start + 1:]:
        if depth == items[start][0] or (tag is None and found):
            break
        if tag is not None:
            name, _, default = tag.partition("=")
            found[name] = (default, body)
    return found


def algorithms_said():
    """Parses the tables of stagger info: {algorithm: (operations, parameters of rules, parameters only of
    the simulator)}; parameters are {name: (default, range, unit, words)}."""
    said = {}
    text = run(STAGGER, "info").stdout.partition("algorithms\n")[2].partition("\n\n")[0]
    for line in text.split("\n"):
        if not line.startswith("      "):
            name, operations = re.match(r"  (\w+)  (.*?);", line).groups()
            said[name] = (operations.split(", "), {}, {})
        elif "no parameters" not in line:
            parameter, default, span, unit, words = re.match(
                r" +(\w+)=(\S+)  (\d+ to \d+)?(?: ([A-Za-z]+)(?=;| or ))?(?: or )?([a-z|]*);", line).groups()
            alone = line.endswith("; only in stagger sim")
            said[name][2 if alone else 1][parameter] = (
                default, span, unit, set(words.split("|")) - {""})
    return said


UNITS = {"microseconds", "milliseconds", "seconds", "bytes", "KiB", "MiB"}


def parameter_differences(what, said, written):
    """Compares the default, range, unit and words of a parameter, in both directions."""
    default, span, unit, words = said
    stated, text = written
    spans = set(re.findall(r"\d+ to \d+", text))
    wrong = [] if stated == default else [f"{what}: the default is {default}, not {stated}"]
    wrong += differences(f"{what}: range", {span} - {None}, spans)
    if span is not None: # numbers: of words the text may tell sizes
        wrong += differences(f"{what}: unit", {unit} - {None},
                             {one for one in UNITS if re.search(rf"\b{one}\b", text, re.I)})
    wrong += [f"{what}: {word} is not in the page" for word in sorted(words)
              if word != default and not re.search(rf"\b{word}\b", text)]
    return wrong


def words_alone(page, name, words):
    """Bold words in a parameter's paragraphs that its table lacks."""
    bold = set()
    for text in re.findall(rf"\n\.B {name}=(.*?)\n\.(?:TP|RE|PP|SS)", Page(page).source, re.S):
        bold.update(re.findall(r"\n\.BR? ([a-z]+)\b(?!=)", text))
    return [f"{name}: {word} is in the page alone" for word in sorted(bold - words)]


def named(text, all_names):
    """The algorithms named by "For A, B and C" or "For all but A"; None if the text names none."""
    found = re.match(r" ?For (all but )?(\w+(?:, \w+)*(?: and \w+)?)", text)
    if found is None:
        return None
    names = set(re.findall(r"\w+", found[2])) & set(all_names)
    return set(all_names) - names if found[1] else names


def shared_differences(said, part, pages):
    """Parameters shared by several algorithms must belong to those that the page names."""
    wrong = []
    for parameter, written in pages.items():
        has = {name for name in said if parameter in said[name][part]}
        wrong += differences(f"{parameter} of", has, named(written[1], said) or set())
        for name in sorted(has):
            wrong += parameter_differences(f"{name}({parameter})", said[name][part][parameter], written)
    return wrong


def algorithms():
    items = Page("libstagger.7").sections["ALGORITHMS"]
    written = {tag: (body, parameters_of(items, i)) for i, (depth, tag, body) in enumerate(items)
               if depth == 0 and tag is not None}
    shared = next(parameters_of(items, i) for i, item in enumerate(items)
                  if item[1] is None and "several" in item[2])
    simulated = Page("stagger-sim.1").sections["ALGORITHMS"]
    simulated = {tag.partition("=")[0]: (tag.partition("=")[2], body)
                 for _, tag, body in simulated if tag is not None}
    said = algorithms_said()
    wrong = shared_differences(said, 1, shared)
    protocols = {name: one for name, one in said.items() if name not in ("mpich", "auto")}
    wrong += shared_differences(protocols, 2, simulated)
    for name, (operations, parameters, alone) in said.items():
        body, own = written.get(name, ("", {}))
        wrong += differences(name, set(operations), set(re.findall(r"\w+", body.partition(".")[0])))
        wrong += differences(f"{name}: parameter", set(parameters) - set(shared), set(own))
        wrong += differences(f"{name}: parameter", set(alone), set(alone) & set(simulated))
        for parameter in parameters:
            wrong += words_alone("libstagger.7", parameter, parameters[parameter][3])
        for parameter in set(own) & set(parameters):
            wrong += parameter_differences(f"{name}({parameter})", parameters[parameter], own[parameter])
    return wrong + differences("ALGORITHMS", set(said), set(written))


def columns():
    said = run(STAGGER, "report", "--sort=", ".").stderr.partition("there are: ")[2].split()
    section = Page("stagger-report.1").sections["COLUMNS"]
    written = {name for _, tag, _ in section for name in re.findall(r"\w+", tag or "")}
    return differences("COLUMNS", set(said), written)


lines = globals()[sys.argv[1]]()
print("\n".join(lines))
sys.exit(1 if lines else 0)
