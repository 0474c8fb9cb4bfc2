import sys; sys.argv=['x','/tmp/wt/names']
src=open('/tmp/wt/names/rename.py').read().rsplit("\nmain()",1)[0]; exec(src)
texts=load(tracked())
moves={}
code={}
for p,t in texts.items():
    if not (C_NAME.search(p)): continue
    code[p]={m.group() for m in TOKEN.finditer(t) if m.lastgroup=='word'}
allw=set().union(*code.values())
for row in read_table('identifiers'):
    r=Rule(row)
    if r.old==r.new: continue
    for p,ws in code.items():
        if not matches(p,r.globs): continue
        olds=[w for w in ws if r.fits(w,r.where or '','(' if r.where=='call' else '',True)] if r.where!='struct' else ([r.old] if r.old in ws else [])
        for o in olds:
            n=r.fits(o,r.where if r.where!='struct' else 'struct','(',True)
            if not n or n==o: continue
            if r.everywhere or r.where=='struct':
                if n in allw: print('EXISTS',r.row,'->',n,[q for q in code if n in code[q]][:3]); break
            elif n in ws: print('same file',p,':',o,'->',n)
