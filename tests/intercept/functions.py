"""Compares the table of MPI's functions (shim/profile/functions.table) with MPI's header.

usage: functions.py HEADER_PREPROCESSED TABLE LEFT_ALONE

Prints a line for each difference: functions that are neither in the table nor left alone, or both;
rows whose number or kinds of arguments differ from the prototype.
"""

import re
import sys

# Maps a parameter's C type to the kinds of arguments that it allows.
KINDS = (
    (r"MPI_Datatype\b.*\[", {"TYPES"}),
    (r"MPI_Datatype\b", {"TYPE"}),
    (r"MPI_Request\b.*\[", {"REQUESTS"}),
    (r"(MPI_Request|MPIO_Request)\s*\*", {"REQUEST"}),
    (r"MPI_Request\b", {"HANDLE"}),
    (r"MPI_Status\b.*(\[|\barray_of_statuses\b)", {"STATUSES"}),
    (r"MPI_Status\s*\*", {"STATUS"}),
    (r"MPI_Message\s*\*", {"MESSAGE"}),
    (r"MPI_Comm\s*\*", {"NEW", "OLD"}),
    (r"MPI_Comm\b", {"COMM", "VALUE"}),
    (r"MPI_(Win|File)\s*\*", {"NEW"}),
    (r"MPI_Win\b", {"WIN"}),
    (r"MPI_File\b", {"FILE", "SHARED"}),
    (r"MPI_Op\b", {"OP"}),
    (r"MPI_Group\b", {"GROUP", "VALUE"}),
    (r"\block_type\b", {"LOCK"}),
    (r"\bchar\b", {"TEXT"}),
    (r"\bvoid\b", {"BUFFER"}),
    (r"\bflag\b", {"FLAG"}),
    (r"\b(counts|sendcounts|recvcounts)\b.*\[", {"COUNTS"}),
    (r"\b(target_count|target_disp)\b", {"VALUE"}),
    (r"\bint incount\b", {"NUMBER"}),
    (r"\*\s*outcount\b", {"DONE"}),
    (r"\barray_of_indices\b", {"INDICES"}),
    (r"\*\s*(index|indx)\b", {"INDEX"}),
    (r"\bpartitions\b", {"PARTS"}),
    (r"\b(dest|source|target_rank|rank)\b", {"PEER"}),
    (r"\b(sendtag|recvtag|tag)\b", {"TAG", "VALUE"}),
    (r"\broot\b", {"ROOT", "VALUE"}),
    (r"\b(int|MPI_Count) (\w*_)?(count|sendcount|recvcount)$", {"COUNT", "NUMBER", "VALUE"}),
)


def kinds_of(parameter):
    for pattern, kinds in KINDS:
        if re.search(pattern, parameter):
            return kinds
    return {"VALUE"}


def read_prototypes(path):
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)\s*", "", open(path).read(), flags=re.S)
    prototypes = {}
    for name, parameters in re.findall(r"\b(MPI_\w+)\s*\(([^;{}()]*)\)\s*;", text):
        parameters = [re.sub(r"\s+", " ", p).strip() for p in parameters.split(",")]
        # Some functions are declared twice, once without parameter names; the declaration of mpi.h
        # comes first.
        prototypes.setdefault(name, [] if parameters == ["void"] else parameters)
    return prototypes


def read_table(path):
    rows = {}
    for line in open(path):
        if line.startswith("MPI_"):
            name, _, _, _, _, _, *arguments = line.split()
            for form in {name.replace("[_c]", ""), name.replace("[_c]", "_c")}:
                rows[form] = [kind for kind in arguments if kind != "-"]
    return rows


def read_left_alone(path):
    return {line.strip() for line in open(path) if line.strip() and not line.startswith("#")}


def differences(prototypes, rows, left_alone):
    # Functions that do not return an error code only compute something.
    for name, parameters in sorted(prototypes.items()):
        base = re.sub(r"_c$", "", name)
        is_left = name in left_alone or base in left_alone
        if name in rows and is_left:
            yield f"{name}: in the table and left alone"
        if name not in rows and not is_left:
            yield f"{name}: neither in the table nor left alone"
        if name in rows:
            arguments = rows[name]
            if len(arguments) != len(parameters):
                yield f"{name}: {len(arguments)} arguments, not {len(parameters)}"
            for argument, parameter in zip(arguments, parameters):
                if argument not in kinds_of(parameter):
                    yield f"{name}: '{parameter}' is {argument}"
    for name in sorted(rows.keys() - prototypes.keys()):
        yield f"{name}: in the table, and in no MPI"
    for name in sorted(left_alone - prototypes.keys()):
        yield f"{name}: left alone, and in no MPI"


def main():
    prototypes = read_prototypes(sys.argv[1])
    found = list(differences(prototypes, read_table(sys.argv[2]), read_left_alone(sys.argv[3])))
    print("\n".join(found) if found else f"{len(prototypes)} functions")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
