"""Makes another MPI with MPICH's ABI from MPICH's library: make_kin.py LIBRARY OUTPUT.

The copy has another name and version string, and lacks MPICH's extensions (MPIX_*): their symbol names
are changed in place, so that hash lookups no longer find them. MPICH's own code calls these functions by
other names.
"""
import sys

def main():
    with open(sys.argv[1], "rb") as file:
        content = file.read()
    for old, new in ((b"libmpich.so.12\0", b"libkinly.so.12\0"), (b"MPICH Version:", b"Kin's version:"),
                     (b"MPIX_", b"KINX_")):
        if old not in content or len(old) != len(new):
            sys.exit(f"{sys.argv[1]}: no {old}")
        content = content.replace(old, new)
    with open(sys.argv[2], "wb") as file:
        file.write(content)


main()
