"""merge.py ROOT SPEC: merges C units. SPEC lines: TARGET: MEMBER MEMBER ... (paths without extension, from ROOT/shim or
ROOT/analysis; the first member's top comment leads)."""
import collections, os, re, subprocess, sys
root, spec = sys.argv[1:3]
os.chdir(root)
tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True).stdout.split("\n")
CODE = [f for f in tracked if re.search(r"\.(c|h|cc|inc)$", f) and os.path.exists(f)]
text = {f: open(f, errors="replace").read() for f in CODE}
def base(unit):
    for b in ("shim", "analysis"):
        if os.path.exists(f"{b}/{unit}.c") or os.path.exists(f"{b}/{unit}.h"): return b
    raise SystemExit("no unit " + unit)
IDENT = re.compile(r"[A-Za-z_]\w*")
def comment_at_top(s):
    s = s.lstrip("\n")
    if not s.startswith("/*"): return "", s
    e = s.index("*/") + 2
    return s[:e], s[e:].lstrip("\n")
def take_includes(s):
    inc, lines, i = [], s.split("\n"), 0
    while i < len(lines):
        l = lines[i]
        if l.startswith("#include"): inc.append(l)
        elif l.strip(): break
        i += 1
    return inc, "\n".join(lines[i:])
def items(s):
    """top-level items: (kind, text) kind in proto, decl, def, pp, comment"""
    out, i, n = [], 0, len(s)
    start, lead = 0, ""
    while i < n:
        # skip blanks
        m = re.compile(r"[ \t\n]+").match(s, i)
        if m:
            if m.group().count("\n") > 1 and lead:
                out.append(("comment", lead)); lead = ""
            i = m.end(); continue
        if s.startswith("/*", i):
            e = s.index("*/", i) + 2
            if lead: out.append(("comment", lead))
            lead = s[i:e]; i = e; continue
        if s[i] == "#":
            j = i
            while True:
                e = s.find("\n", j)
                if e < 0: e = n
                if s[e-1] == "\\": j = e + 1; continue
                break
            out.append(("pp", (lead + "\n" if lead else "") + s[i:e])); lead = ""; i = e; continue
        # declaration or definition
        depth, j, brace = 0, i, False
        while j < n:
            c = s[j]
            if s.startswith("/*", j): j = s.index("*/", j) + 2; continue
            if c == '"' or c == "'":
                k = j + 1
                while s[k] != c: k += 2 if s[k] == "\\" else 1
                j = k + 1; continue
            if c == "#" and s[j-1] == "\n" and depth == 0: pass
            if c in "({[": depth += 1
            if c in ")}]":
                depth -= 1
                if c == "}" and depth == 0:
                    rest = re.compile(r"[ \t\n]*(?:__attribute__\(\(.*?\)\)\s*)?[;,=\w*]").match(s, j + 1)
                    before = s[i:s.index("{", i)]
                    isfun = before.rstrip().endswith(")") and "=" not in before.split("(")[0]
                    if isfun: j += 1; brace = True; break
            if c == ";" and depth == 0: j += 1; break
            j += 1
        # trailing comment on the same line
        m = re.compile(r"[ \t]*/\*.*?\*/(?=[ \t]*\n)", re.S).match(s, j)
        if m and "\n" not in s[j:m.start()+1]: j = m.end()
        body = s[i:j]
        kind = "def" if brace else "decl"
        if kind == "decl" and re.match(r"^(?!typedef|static|struct\s+\w+\s*\{|enum\s+\w*\s*\{|union\s+\w+\s*\{)[\w\s\*]*?\b(\w+)\s*\(", body) and "{" not in body and "=" not in body.split("(")[0] and "(*" not in body.split("(",1)[0]+"(":
            m = re.match(r"^[\w\s\*]*?\b(\w+)\s*\(", body)
            if m and not body.split("(",1)[1].startswith("*"): kind = "proto:" + m.group(1)
            if m and m.group(1) == "__attribute__":
                mm = re.search(r"\b(sg_\w+)\s*\(", body); kind = "proto:" + mm.group(1) if mm else "decl"
            if m and m.group(1) == "_Static_assert": kind = "decl"
        out.append((kind, (lead + "\n" if lead else "") + body)); lead = ""
        i = j
    if lead: out.append(("comment", lead))
    return out
def uncomment(c):
    return c
report = []
touched = set()
forced = set()
words_of, count_of = {}, collections.Counter()
renames = {}  # old include path -> new include path
pathmap = {}
def includes_path(line):
    m = re.match(r'#include "(.*)"', line); return m and m.group(1)
def do_types(top, prefix):
    b = base(top)
    inc_of = lambda u: [i[:-2] for i in re.findall(r'#include "(.*\.h)"', text.get(f"{b}/{u}.h", ""))]
    todo, clo = [top], []
    def visit(x):
        for i in inc_of(x):
            if i.startswith(prefix) and i not in clo and i != top: visit(i); clo.append(i)
    seen_ = set()
    def visit(x):
        for i in inc_of(x):
            if i.startswith(prefix) and i != top and i not in seen_:
                seen_.add(i); visit(i); clo.append(i)
    visit(top)
    def parse(u):
        t = text[f"{b}/{u}.h"]; topc, rest = comment_at_top(t)
        g = re.search(r"#ifndef (SG_\w+_H)\s*\n#define \1\n", rest)
        rest = rest[g.end():]; rest = rest[:rest.rindex("#endif")]
        inc, body = take_includes(rest)
        return topc, g.group(1), inc, items(body)
    def put(section):
        out, prev = [], None
        for kind, t in section:
            if prev is not None: out.append("\n" if kind.startswith("proto") and prev.startswith("proto") or kind == prev == "pp" else "\n\n")
            out.append(t); prev = kind
        return "".join(out)
    tc, tg, tinc, titems = parse(top)
    moved, gone, incs = [], {}, [i for i in tinc if not (includes_path(i) and includes_path(i)[:-2] in clo)]
    for u in clo:
        c, g, inc, its = parse(u)
        types = [x for x in its if not x[0].startswith("proto")]
        protos = [x for x in its if x[0].startswith("proto")]
        moved.append((c + "\n\n" if c else "") + put(types))
        for i in inc:
            p = includes_path(i)
            if not (p and p[:-2] in clo) and i not in incs: incs.append(i)
        if not protos:
            gone[u + ".h"] = top + ".h"
            del text[f"{b}/{u}.h"]; os.remove(f"{b}/{u}.h"); subprocess.run(["git", "rm", "-q", "--cached", f"{b}/{u}.h"])
        else:
            forced.add(u)
            n = f'#ifndef {g}\n#define {g}\n\n#include "{top}.h"\n\n' + put(protos) + "\n\n#endif\n"
            text[f"{b}/{u}.h"] = n; open(f"{b}/{u}.h", "w").write(n)
    n = (tc + "\n" if tc else "") + f"#ifndef {tg}\n#define {tg}\n\n" + "\n".join(sorted(i for i in incs if '"' in i)) + "\n\n" + "\n".join(sorted(i for i in incs if "<" in i)) + "\n\n" + "\n\n".join(moved) + "\n\n" + put(titems) + "\n\n#endif\n"
    f = f"{b}/{top}.h"; open(f, "w").write(n); subprocess.run(["clang-format", "-i", f]); text[f] = open(f).read()
    for f in list(text):
        t = text[f]
        for o, nw in gone.items():
            if f'#include "{o}"' in t:
                t = t.replace(f'#include "{o}"\n', "" if f'#include "{nw}"' in t or f == f"{b}/{top}.h" else f'#include "{nw}"\n')
        if t != text[f]: open(f, "w").write(t); text[f] = t; touched.add(f)
    pathmap.update(gone)
for line in open(spec):
    line = line.split("#")[0].strip()
    if not line: continue
    if line.startswith("TYPES"):
        do_types(*line.split()[1:]); continue
    target, members = line.split(":"); target = target.strip(); members = members.split()
    b = base(members[0]); print(target, file=sys.stderr, flush=True)
    files = {f"{b}/{m}.{e}" for m in members for e in "ch"} & set(text)
    hs = [m for m in members if f"{b}/{m}.h" in text]
    cs = [m for m in members if f"{b}/{m}.c" in text]
    outside_inc = collections.Counter()
    for f, t in text.items():
        h = hash(t)
        if words_of.get(f, (0,))[0] != h:
            if f in words_of: count_of.subtract(words_of[f][1])
            words_of[f] = (h, set(IDENT.findall(t))); count_of.update(words_of[f][1])
    for f in list(words_of):
        if f not in text: count_of.subtract(words_of[f][1]); del words_of[f]
    inner = collections.Counter()
    for f in files: inner.update(words_of[f][1])
    class Outside:
        def __contains__(self, w): return count_of[w] > inner[w]
    outside_words = Outside()
    for f, t in text.items():
        if f in files: continue
        for i in re.findall(r'^\s*#\s*include "(.*)"', t, re.M):
            outside_inc[i] += 1
    parsed = {}
    for m in hs:
        t = text[f"{b}/{m}.h"]
        top, rest = comment_at_top(t)
        g = re.search(r"#ifndef (SG_\w+_H)\s*\n#define \1\n", rest)
        assert g, m
        pre = rest[:g.start()].strip()
        rest = rest[g.end():]
        rest = rest[:rest.rindex("#endif")]
        if not top:
            t2, r2 = comment_at_top(rest)
        inc, body = take_includes(rest)
        parsed[m] = dict(top=top, inc=inc, items=items(body))
    public = {m for m in hs if outside_inc[m + ".h"] or m in forced}
    grow = True
    while grow:
        grow = False
        for m in list(public):
            for i in parsed[m]["inc"]:
                p = includes_path(i)
                if p and p[:-2] in hs and p[:-2] not in public: public.add(p[:-2]); grow = True
    # header order
    def topo(names, deps):
        done, out = set(), []
        def visit(x, stack=()):
            if x in done or x in stack: return
            for d in deps(x):
                if d in names and d != x: visit(d, stack + (x,))
            if x not in done: done.add(x); out.append(x)
        for x in names: visit(x)
        return out
    hdeps = lambda m: [includes_path(i)[:-2] for i in parsed[m]["inc"] if includes_path(i)]
    horder = topo(hs, hdeps)
    cparsed = {}
    for m in cs:
        top, rest = comment_at_top(text[f"{b}/{m}.c"])
        inc, body = take_includes(rest)
        cparsed[m] = dict(top=top, inc=inc, body=body)
    cdeps = lambda m: [includes_path(i)[:-2] for i in cparsed[m]["inc"] if includes_path(i)]
    corder = topo(cs, cdeps) if "--keep" not in sys.argv else cs
    # collisions
    seen = {}
    for m in horder:
        for kind, t in parsed[m]["items"]:
            bare = re.sub(r"/\*.*?\*/", "", t, flags=re.S).strip()
            mm = re.match(r"^(?:struct|enum|union)\s+(\w+)\s*\{", bare)
            if mm: seen[mm.group(1)] = m + ".h"
            mm = re.match(r"^static\b[^=;{]*?\b(\w+)\s*\(", bare)
            if mm: seen[mm.group(1)] = m + ".h"
            mm = re.match(r"^#define\s+(\w+)", bare)
            if mm: seen[mm.group(1)] = m + ".h"
    for m in corder:
        body = cparsed[m]["body"]
        names = set()
        for kind, t in items(body):
            bare = re.sub(r"__attribute__\(\(.*?\)\)\s*", "", re.sub(r"/\*.*?\*/", "", t, flags=re.S)).strip()
            mm = re.match(r"^static\b[^=;{]*?\b(\w+)\s*(\(|\[|=|;)", bare)
            if mm: names.add(("fn" if mm.group(2) == "(" else "var", mm.group(1)))
            mm = re.match(r"^(?:static\s+)?(?:const\s+)?(struct|enum|union)\s+(\w+)\s*\{", bare)
            if mm: names.add(("tag", mm.group(2)))
            mm = re.match(r"^#define\s+(\w+)", bare)
            if mm: names.add(("macro", mm.group(1)))
            mm = re.match(r"^typedef.*?\(\*(\w+)\)", bare)
            if mm: names.add(("var", mm.group(1)))
            mm = re.match(r"^enum\s*\w*\s*\{(.*)\}", bare, re.S)
            if mm:
                for e in re.findall(r"\b([A-Z]\w+)\b", mm.group(1)): names.add(("macro", e))
        stem = os.path.basename(m)
        for k, nme in sorted(names):
            key = nme
            if key in seen and seen[key] != m:
                # identical definition text? drop is left to a person
                new = f"{stem}_{nme}" if nme.islower() or "_" in nme and nme.lower() == nme else f"{stem.upper()}_{nme}"
                if k == "tag": body = re.sub(rf"\b(struct|enum|union) {nme}\b", rf"\1 {new}", body)
                elif k == "fn": body = re.sub(rf"(?<![\w.>\"])({nme})(?=\s*\()|(?<=[(,=&?:{{])(\s*){nme}(?=\s*[,;)}}])(?!\s*\()", lambda mo: (new if mo.group(1) else (mo.group(2) or "") + new), body)
                else: body = re.sub(rf"(?<![\w.>\"]){nme}\b", new, body)
                report.append(f"{target}: {m}: {k} {nme} -> {new} (also in {seen[key]})")
            else: seen[key] = m
        cparsed[m]["body"] = body
    # headers: items
    pub_out, priv_out, statics = [], [], {}
    inner_text = " ".join(t for m in public for k, t in parsed[m]["items"] if not k.startswith("proto"))
    inner_words = set(IDENT.findall(re.sub(r"/\*.*?\*/", "", inner_text, flags=re.S)))
    for m in horder:
        section = []
        for kind, t in parsed[m]["items"]:
            if kind.startswith("proto:") and kind[6:] not in outside_words and kind[6:] not in inner_words and not re.match(r"sg_(loop|lacking)_", kind[6:]) and any(re.search(rf"^[\w][^;\n{{]*\b{kind[6:]}\(", cparsed[c]["body"], re.M) for c in cs):
                c, decl = comment_at_top(t)
                statics[kind[6:]] = (c, decl)
                continue
            section.append((kind, t))
        (pub_out if m in public else priv_out).append((m, section))
    def render(section, top):
        out, prev = [], None
        for kind, t in section:
            if prev is not None:
                tight = kind.startswith("proto") and prev.startswith("proto") or kind == prev == "pp"
                out.append("\n" if tight else "\n\n")
            out.append(t); prev = kind
        return "".join(out)
    incset = []
    def add(i):
        p = includes_path(i)
        if p and p[:-2] in hs: return
        if i not in incset: incset.append(i)
    # public header
    hpath = f"{b}/{target}.h"
    has_h = bool(pub_out)
    hout = ""
    if has_h:
        for m in horder:
            if m in public:
                for i in parsed[m]["inc"]: add(i)
        hincs, incset = incset, []
        guard = "SG_" + re.sub(r"\W", "_", target).upper() + "_H"
        lead = parsed[members[0]]["top"] if members[0] in public else parsed[pub_out[0][0]]["top"]
        first = members[0] if members[0] in public else pub_out[0][0]
        def fmt(incs):
            q = sorted(i for i in incs if '"' in i); a = sorted(i for i in incs if "<" in i); o = [i for i in incs if '"' not in i and "<" not in i]
            return "\n\n".join(x for x in ("\n".join(q), "\n".join(a), "\n".join(o)) if x)
        hout = (lead + "\n" if lead else "") + f"#ifndef {guard}\n#define {guard}\n\n" + (fmt(hincs) + "\n\n" if hincs else "")
        parts = []
        for m, section in pub_out:
            r = render(section, None)
            t = parsed[m]["top"] if m != first else ""
            parts.append((t + "\n\n" if t else "") + r)
        hout += "\n\n".join(p for p in parts if p.strip()) + "\n\n#endif\n"
    else: 
        fmt = lambda incs: "\n\n".join(x for x in ("\n".join(sorted(i for i in incs if '"' in i)), "\n".join(sorted(i for i in incs if "<" in i))) if x)
    incset = []
    for m in horder:
        if m not in public:
            for i in parsed[m]["inc"]: add(i)
    for m in corder:
        for i in cparsed[m]["inc"]: add(i)
    own = f'#include "{target}.h"'
    incs = [i for i in incset if i != own and not (has_h and i in hincs and '"' in i)]
    # bodies
    chunks = []
    for m, section in priv_out:
        r = render(section, None)
        if r.strip():
            t = parsed[m]["top"] if m != members[0] else ""
            chunks.append((m, (t + "\n\n" if t else "") + r))
    code = []
    for m in corder:
        t = cparsed[m]["top"] if m != members[0] or has_h and members[0] in public and False else ""
        if m != members[0] and m not in public and not any(x == m and render(s, None).strip() for x, s in priv_out) and m in parsed and parsed[m]["top"]:
            t = parsed[m]["top"] + ("\n" + t if t else "")
        code.append((t + "\n\n" if t else "") + cparsed[m]["body"].strip("\n"))
    full = "\n\n".join(code)
    # statics
    forward = []
    for fn, (c, decl) in statics.items():
        d = re.search(rf"^(?=[\w])(?!static)[^;\n{{}}#]*(?:\n[^;{{}}#\n]*)?\b{fn}\((?:[^;{{}}]*?)\)\s*\n\{{", full, re.M)
        if not d:
            report.append(f"{target}: no definition of {fn} found"); forward.append((c + "\n" if c else "") + decl); continue
        lead = c
        before = full[:d.start()].rstrip("\n")
        prevc = before.endswith("*/")
        full = full[:d.start()] + "static " + full[d.start():]
        use = re.search(rf"\b{fn}\b", full)
        s = d.start()
        if use.start() < s: forward.append("static " + decl)
        if lead:
            if prevc:
                k = before.rindex("/*")
                full = full[:k] + lead + "\n" + full[k:]
            else: full = full[:s] + lead + "\n" + full[s:]
    ctop = cparsed[members[0]]["top"] if members[0] in cparsed else ""
    if not ctop and not (has_h and members[0] in public) and members[0] in parsed: ctop = parsed[members[0]]["top"]
    elif not (has_h and members[0] in public) and members[0] in parsed and parsed[members[0]]["top"]: ctop = parsed[members[0]]["top"] + "\n" + ctop
    cout = (ctop + "\n" if ctop else "") + (own + "\n\n" if has_h else "") + (fmt(incs) + "\n\n" if incs else "")
    cout += "\n\n".join(t for _, t in chunks) + ("\n\n" if chunks else "")
    if forward: cout += "\n".join(forward) + "\n\n"
    cout += full + "\n"
    for f in files:
        subprocess.run(["git", "rm", "-q", "--cached", f]); os.remove(f); del text[f]
    os.makedirs(os.path.dirname(f"{b}/{target}"), exist_ok=True)
    if cs:
        open(f"{b}/{target}.c", "w").write(cout); text[f"{b}/{target}.c"] = cout
    if has_h:
        open(hpath, "w").write(hout); text[hpath] = hout
    mine = [f"{b}/{target}.{e}" for e in "ch" if f"{b}/{target}.{e}" in text]
    touched.update(mine)
    subprocess.run(["git", "add", "-N"] + mine)
    hset = {m + ".h": target + ".h" for m in hs if m + ".h" != target + ".h"}
    for f in list(text):
        t = text[f]
        if not any(f'"{h}"' in t for h in hset): continue
        lines, out, got = t.split("\n"), [], set()
        for l in lines:
            p = re.match(r'(\s*#\s*include ")(.*)(".*)', l)
            if p and p.group(2) in hset: l = p.group(1) + hset[p.group(2)] + p.group(3)
            if l.startswith("#include \"" + target + ".h\""):
                if l in got or f in mine: continue
                got.add(l)
            out.append(l)
        n = "\n".join(out)
        if n != t:
            text[f] = n; open(f, "w").write(n)
            touched.add(f)
    for m in members:
        for e in "ch":
            if f"{b}/{m}.{e}" != f"{b}/{target}.{e}": pathmap[f"{m}.{e}"] = f"{target}.{e}"
subprocess.run(["xargs", "-n20", "-P2", "clang-format", "-i"], input="\n".join(f for f in touched if os.path.exists(f)), text=True)
print("\n".join(report))
# mentions of paths
docs = [f for f in tracked if os.path.exists(f) and not re.search(r"\.(png|svg|otf2|def|evt)$", f)]
for f in docs:
    try: t = open(f).read()
    except Exception: continue
    n = t
    for old, new in pathmap.items():
        if old in n and not os.path.exists(f"shim/{old}") and not os.path.exists(f"analysis/{old}"):
            n = re.sub(rf"(?<![\w/])((?:shim/|analysis/)?){re.escape(old)}\b", rf"\g<1>{new}", n)
    if n != t: open(f, "w").write(n); print("paths in", f)
