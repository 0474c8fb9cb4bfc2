# Writes C from the table of MPI's functions and the text of wrappers.template, to standard output:
#
#   awk -f wrappers.awk -v output=FILE wrappers.template functions.table
#
# The template has a section for the begin of each output, its end, and a function. In it, $name is a value that this
# script sets, and a line after [name] is only written if that value is not empty.
#
# FILE is functions.h, the functions' numbers; functions.c, facts about them (profile/counted_functions.h); wrappers.c,
# wrappers_own.c (the library's own collectives and tests) or wrappers_f08.c (Fortran 2008); or real_functions.h and
# real_functions.c, the functions that stagger calls. A wrapper marks a thread that waits
# or tests, counts the call, and hands it to the next function of that name, another tool's or MPICH's. A test loop or
# slices may carry out the call instead. Arguments pass unchanged, in words as wide as a register; the profile may
# replace an ignored status among them.

# ---- the template ----

NR == FNR && /^== / {
    section = substr($0, 4)
    next
}
NR == FNR {
    text[section, ++lines[section]] = $0
    next
}

# Returns the line with the values in place of their names.
function fill(line,   filled, key) {
    while (match(line, /\$[a-z_0-9]+/)) {
        key = substr(line, RSTART + 1, RLENGTH - 1)
        if (!(key in value)) {
            print "wrappers.template: no $" key >"/dev/stderr"
            exit 1
        }
        filled = filled substr(line, 1, RSTART - 1) value[key]
        line = substr(line, RSTART + RLENGTH)
    }
    return filled line
}

# Prints a line, broken after commas.
function print_line(line,   at) {
    while (length(line) > 100) {
        for (at = 99; at > 8 && substr(line, at, 2) != ", "; at--)
            ;
        print substr(line, 1, at)
        line = "        " substr(line, at + 2)
    }
    print line
}

function write(part,   i, line, condition, held) {
    part = output " " part
    for (i = 1; i <= lines[part]; i++) {
        line = text[part, i]
        condition = ""
        if (match(line, /^\[[a-z_]+\]/)) {
            condition = substr(line, 2, RLENGTH - 2)
            line = substr(line, RLENGTH + 1)
        }
        if (condition != "" && value[condition] == "")
            continue
        if (held != "")
            sub(/^ +/, held " ", line)
        held = line ~ / else$/ ? line : ""
        if (held == "")
            print_line(fill(line))
    }
}

# ---- the table ----

FNR == 1 {
    write("begin")
}
/^MPI_/ {
    name = substr($1, length("MPI_") + 1)
    has_wide_form = sub(/\[_c\]$/, "", name)
    f08 = $2
    value["mode"] = mode = $3
    value["class"] = class = $4
    value["flow"] = flow = $5 == "-" ? "NONE" : $5
    form = $6
    count = $7 == "-" ? 0 : NF - 6
    for (i = 1; i <= count; i++)
        kind[i] = $(6 + i)
    write_function("int")
    name = name "_c"
    if (has_wide_form)
        write_function("MPI_Count")
}
$1 ~ /^(required|optional)$/ {
    value["is_optional"] = $1 == "optional" ? "true" : "false"
    for (i = 2; i <= NF; i++) {
        value["name"] = $i
        write("call")
    }
}
$1 == "own" {
    split($0, part, / *\| */)
    value["f08_symbol"] = "mpi_" $2 "_f08_"
    value["call"] = part[3]
    value["names"] = value["parameters"] = ""
    count = split(part[2], word, " ")
    word[++count] = "ierror"
    for (i = 1; i <= count; i++) {
        append("names", word[i])
        append("parameters", "int *" word[i])
    }
    write("own")
}
END {
    write("end")
}

function write_function(length_type) {
    value["name"] = name
    value["counts_wide"] = name ~ /_c$/ ? "true" : "false"
    value["may_loop"] = form ~ /LOOP|BEGUN/ ? "true" : "false"
    value["is_sliced"] = form ~ /SLICED/ ? "true" : "false"
    value["begin"] = "COUNT"
    if (form ~ /LOOP|BEGUN|DISPATCHED/ && mode == "WAIT" && class ~ /^(MESSAGE|COLLECTIVE)$/)
        value["begin"] = "I" tolower(substr(name, 1, 1)) substr(name, 2)
    value["count"] = count
    set_arguments()
    set_mode()
    if (output ~ /^functions/)
        write("function")
    else if (output == "wrappers_f08.c" && f08 == "f08")
        write_f08()
    else if (output == "wrappers_own.c" && form == "DISPATCHED")
        write_dispatched(length_type)
    else if (output == "wrappers_own.c" && form == "POLL")
        write_poll()
    else if (output == "wrappers.c" && form !~ /^OWN|DISPATCHED|POLL/)
        write_wrapper()
}

function append(key, item) {
    value[key] = value[key] (value[key] == "" ? "" : ", ") item
}

# Sets lists of the arguments, and the place of each kind in the array.
function set_arguments(  i, seen, word) {
    value["names"] = value["parameters"] = value["passed"] = value["arguments"] = ""
    for (i = 1; i <= count; i++) {
        word = tolower(kind[i]) (++seen[kind[i]] > 1 ? seen[kind[i]] : "")
        place[kind[i]] = "words[" i - 1 "]"
        append("names", word)
        append("parameters", "sg_word " word)
        append("passed", place[kind[i]])
        append("arguments", "SG_ARGUMENT_" kind[i])
    }
    if (count == 0) {
        value["names"] = value["arguments"] = "0"
        value["parameters"] = "void"
    }
}

# reports: the result depends on what MPICH has seen so far.
function set_mode() {
    value["reports"] = mode == "TEST" || name ~ /^(Waitany|Waitsome|Cancel)$/ ? "yes" : ""
    value["begin_mode"] = value["end_mode"] = ""
    if (mode ~ /WAIT|TEST/) {
        unit = mode == "TEST" ? "sg_turn" : "sg_wakes"
        value["begin_mode"] = unit "_begin_" tolower(mode) "()"
        value["end_mode"] = unit "_end_" tolower(mode) "()"
    }
}

function write_wrapper() {
    value["slices"] = value["loop_begins"] = ""
    if (form ~ /SLICED/)
        value["slices"] = "sg_sliced_carries(SG_FUNCTION_" name ", words, &error)"
    else if (form ~ /REFUSED/)
        value["slices"] = "sg_sliced_refuses(SG_FUNCTION_" name ", words, &error)"
    if (form ~ /LOOP/)
        value["loop_begins"] = "sg_test_loop_begin()"
    else if (form == "BEGUN")
        value["loop_begins"] = loop_begins("(MPI_Comm)" place["COMM"], "(MPI_Datatype)" place["TYPE"], \
                                           "(MPI_Op)" place["OP"])
    write("function")
}

function loop_begins(comm, type, op) {
    if (flow ~ /REDUCE/)
        return "sg_test_loop_begin_reduction(" comm ", " type ", " op ")"
    return "sg_test_loop_begin_collective(" comm ")"
}

function write_dispatched(length_type,   i, field) {
    value["is_blocking"] = mode == "WAIT" ? "yes" : ""
    value["is_nonblocking"] = mode == "WAIT" ? "" : "yes"
    value["or_no_request"] = mode == "WAIT" ? "" : " || request == 0"
    value["loop_begins"] = loop_begins("call->comm", "call->datatype", "call->op")
    field["BUFFER"] = flow == "BCAST" ? "call->receive" : "call->send"
    field["COUNT"] = "(" length_type ")call->count"
    field["TYPE"] = "call->datatype"
    field["OP"] = "call->op"
    field["ROOT"] = "call->root"
    field["COMM"] = "call->comm"
    field["REQUEST"] = "call->request"
    value["fields"] = ""
    for (i = 1; i <= count; i++) {
        append("fields", field[kind[i]])
        field["BUFFER"] = "call->receive"
    }
    value["operands"] = (flow == "BCAST" ? "buffer, buffer" : "buffer, buffer2") ", (" length_type ")count, type, " \
                        (flow == "BCAST" ? "0" : "op") ", " (flow == "ALLREDUCE" ? "-1" : "(int)root") ", comm, " \
                        (mode == "WAIT" ? "NULL" : "(MPI_Request *)request")
    write("function")
}

# MPICH has the functions since 4.2, in some releases with the prefix MPIX_.
function write_poll(  i, type) {
    type["NUMBER"] = "int"
    type["REQUESTS"] = "const MPI_Request *"
    type["STATUS"] = type["STATUSES"] = "MPI_Status *"
    value["typed"] = ""
    for (i = 1; i <= count; i++)
        append("typed", "(" (kind[i] in type ? type[kind[i]] : "int *") ")" tolower(kind[i]))
    value["lacking"] = "sg_lacking_" substr(name, length("Request_get_") + 1)
    value["symbol"] = "MPI_" name
    write("poll")
    value["symbol"] = "MPIX_" name
    write("poll")
}

# ierror follows the arguments of C, then the length of each text.
function write_f08(  in_c, i) {
    in_c = count
    kind[++count] = "IERROR"
    for (i = 1; i <= in_c; i++)
        if (kind[i] == "TEXT")
            kind[++count] = "LENGTH"
    value["f08_symbol"] = "mpi_" tolower(name) "_f08_"
    value["passes"] = form ~ /OWN|POLL/ ? "" : "yes"
    value["own"] = ""
    if (form ~ /OWN|POLL/) {
        value["reports"] = value["begin_mode"] = value["end_mode"] = ""
        value["own"] = "sg_wrap_poll(*(const int *)number, (const MPI_Request *)requests)"
        if (kind[1] == "REQUEST")
            value["own"] = "sg_request_wait(*(const MPI_Request *)request)"
        else if (kind[1] == "HANDLE")
            value["own"] = "sg_request_poll(*(const MPI_Request *)handle)"
    }
    set_arguments()
    write("function")
    count = in_c
}
