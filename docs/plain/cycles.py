"""cycles.py ROOT SPEC...: include cycles between headers after merging."""
import os, re, sys, subprocess
root = sys.argv[1]; os.chdir(root)
fs = [f for f in subprocess.run(["git","ls-files"],capture_output=True,text=True).stdout.split("\n") if re.match(r"(shim|analysis)/.*\.h$", f)]
inc = {}
for f in fs:
    u = re.sub(r"^(shim|analysis)/", "", f)[:-2]
    inc[u] = [i[:-2] for i in re.findall(r'#include "(.*\.h)"', open(f).read())]
to = {}
for s in sys.argv[2:]:
    for l in open(s):
        l = l.split("#")[0].strip()
        if not l or l.startswith("TYPES"): continue
        t, ms = l.split(":")
        for m in ms.split(): to[m] = t.strip()
for s in sys.argv[2:]:
    for l in open(s):
        if l.startswith("TYPES"):
            _, top, prefix = l.split()
            todo, clo = [top], set()
            while todo:
                x = todo.pop()
                for i in inc.get(x, []):
                    if i.startswith(prefix) and i not in clo: clo.add(i); todo.append(i)
            print("types of", top, sorted(clo))
            extra = set()
            for c in clo:
                extra |= {i for i in inc[c] if i not in clo}
                inc[c] = [i for i in inc[c] if i not in clo] + [top]
            inc[top] = [i for i in inc[top] if i not in clo] + sorted(extra)
g, why = {}, {}
for u, is_ in inc.items():
    a = to.get(u, u)
    for i in is_:
        b = to.get(i, i)
        if a != b: g.setdefault(a, set()).add(b); why.setdefault((a, b), []).append((u, i))
# SCC
idx, low, st, on, out, n = {}, {}, [], set(), [], [0]
sys.setrecursionlimit(10000)
def sc(v):
    idx[v] = low[v] = n[0]; n[0] += 1; st.append(v); on.add(v)
    for w in g.get(v, ()):
        if w not in idx: sc(w); low[v] = min(low[v], low[w])
        elif w in on: low[v] = min(low[v], idx[w])
    if low[v] == idx[v]:
        c = []
        while True:
            w = st.pop(); on.discard(w); c.append(w)
            if w == v: break
        if len(c) > 1: out.append(c)
for v in list(g):
    if v not in idx: sc(v)
for c in out:
    print("CYCLE", c)
    for a in c:
        for b in g[a]:
            if b in c: print("   ", a, "->", b, why[(a, b)])
