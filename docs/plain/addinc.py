import re, subprocess, sys, os
log = open(sys.argv[1]).read()
need = set(re.findall(r"^([\w/.]+\.[ch]):\d+:\d+: error: implicit declaration of function ‘(\w+)’", log, re.M))
hs = subprocess.run("git ls-files -co --exclude-standard shim analysis tests | grep '\\.h$'", shell=True, capture_output=True, text=True).stdout.split()
for f, fn in sorted(need):
    if not os.path.exists(f): continue
    for h in hs:
        if not os.path.exists(h): continue
        if re.search(rf"^[a-z][^\n;#=]*\b{fn}\(", open(h).read(), re.M):
            p = re.sub(r"^(shim|analysis|tests)/", "", h)
            t = open(f).read()
            if f == h or f'#include "{p}"' in t: continue
            i = t.find('#include "', t.find('#include "') + 5)
            if i < 0: i = t.find("#include")
            t = t[:i] + f'#include "{p}"\n' + t[i:]
            open(f, "w").write(t); subprocess.run(["clang-format", "-i", f]); print(f, "+", p)
            break
    else: print("??", f, fn)
