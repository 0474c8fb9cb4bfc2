"""Makes another MPI with MPICH's ABI out of MPICH's library: make_kin.py LIBRARY OUTPUT.

The copy has another name and another version string, and lacks MPICH's extensions (MPIX_*): names of
symbols are changed where they stand, so that the hash table finds them no more. MPICH's own code calls
itself by other names.
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
