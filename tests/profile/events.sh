#!/bin/bash
# The log's events of all calls match those worked out for a program with known messages, requests,
# collectives, windows, threads and errors.
. "$(dirname "$0")/../lib/sh.sh"

# Without its companion the library makes no archive from the logs.
mkdir alone && cp "$LIB" alone/
print_logs() {
    "$BUILD/tests/profile/print_log" "$1.trace"/rank-*.log | grep -v '^comm \|^managed ' |
        sed 's/MPI_COMM_WORLD/world/; s/MPI_COMM_SELF/self/' |
        sed -E 's/^(.* MPI_Intercomm_create .* to -1:-1) [1-9][0-9]* /\1 CREATED /' >"$1.log"
}
record() { PRELOAD=$WORK/alone/libstagger.so observe "$1" 2 "$PROGRAMS/known_events" "$1"; }

# knows PART: compares the log with the lines on stdin, one per record: a call, or after a call, the
# events of a request. "to" and "from": RANK:TAG BYTES. CREATED: the time of the communicator's
# creation.
knows() {
    cat >"$1.known"
    record "$1"
    check "the part $1 runs" is 0 "$status"
    print_logs "$1"
    check "the events are the expected ones ($1)" same "$1.known" "$1.log"
}

knows messages <<'END'
rank 0
1 MPI_Send world sends to 1:7 10
2 MPI_Ssend world sends to 1:8 20
3 MPI_Sendrecv world sends receives to 1:9 11 from 1:10 12
4 MPI_Sendrecv_replace world sends receives to 1:3 13 from 1:3 13
5 MPI_Send world to -1:7 0
6 MPI_Recv world from -1:7 0
rank 1
1 MPI_Recv world receives from 0:7 10
2 MPI_Probe world from 0:8 0
3 MPI_Recv world receives from 0:8 20
4 MPI_Sendrecv world sends receives to 0:10 12 from 0:9 11
5 MPI_Sendrecv_replace world sends receives to 0:3 13 from 0:3 13
6 MPI_Send world to -1:7 0
7 MPI_Recv world from -1:7 0
END

knows requests <<'END'
rank 0
1 MPI_Isendrecv world to 1:5 0 from 1:5 0
2 - send 2 of MPI_Isendrecv world with 1:5 14
3 - receive 3 of MPI_Isendrecv world with 1:5 14
4 MPI_Wait -
5 - sent 2 of MPI_Isendrecv world with 1:5 14
6 - received 3 of MPI_Isendrecv world with 1:5 14
7 MPI_Irecv world receives posts from -2:-1 100
call barrier 0
8 MPI_Isend world sends posts to 1:6 15
9 MPI_Waitany -
10 - sent 8 of MPI_Isend world with 1:6 15
11 MPI_Wait -
12 - received 7 of MPI_Irecv world with 1:6 15
13 MPI_Irecv world from -1:0 0
14 MPI_Wait -
15 - complete 13 of MPI_Irecv world with -1:0 0
16 MPI_Irecv world receives posts from 1:98 10
17 MPI_Cancel -
18 MPI_Wait -
19 - cancelled 16 of MPI_Irecv world with 1:98 0
20 MPI_Isend world sends posts to 1:4 16
21 MPI_Request_free -
22 - freed 20 of MPI_Isend world with 1:4 16
23 MPI_Recv world receives from 1:4 16
rank 1
1 MPI_Isendrecv world to 0:5 0 from 0:5 0
2 - send 2 of MPI_Isendrecv world with 0:5 14
3 - receive 3 of MPI_Isendrecv world with 0:5 14
4 MPI_Wait -
5 - sent 2 of MPI_Isendrecv world with 0:5 14
6 - received 3 of MPI_Isendrecv world with 0:5 14
7 MPI_Irecv world receives posts from -2:-1 100
call barrier 0
8 MPI_Isend world sends posts to 0:6 15
9 MPI_Waitany -
10 - sent 8 of MPI_Isend world with 0:6 15
11 MPI_Wait -
12 - received 7 of MPI_Irecv world with 0:6 15
13 MPI_Irecv world from -1:0 0
14 MPI_Wait -
15 - complete 13 of MPI_Irecv world with -1:0 0
16 MPI_Irecv world receives posts from 0:98 10
17 MPI_Cancel -
18 MPI_Wait -
19 - cancelled 16 of MPI_Irecv world with 0:98 0
20 MPI_Isend world sends posts to 0:4 16
21 MPI_Request_free -
22 - freed 20 of MPI_Isend world with 0:4 16
23 MPI_Recv world receives from 0:4 16
END

knows persistent <<'END'
rank 0
1 MPI_Recv_init world from -2:5 0
2 MPI_Send_init world to 1:5 0
3 MPI_Startall -
4 - receive 4 of MPI_Recv_init world with -2:5 100
5 - send 5 of MPI_Send_init world with 1:5 10
6 MPI_Wait -
7 - sent 5 of MPI_Send_init world with 1:5 10
8 MPI_Wait -
9 - received 4 of MPI_Recv_init world with 1:5 11
10 MPI_Wait -
11 MPI_Start -
12 - receive 12 of MPI_Recv_init world with -2:5 100
13 MPI_Start -
14 - send 14 of MPI_Send_init world with 1:5 10
15 MPI_Wait -
16 - received 12 of MPI_Recv_init world with 1:5 11
17 MPI_Wait -
18 - sent 14 of MPI_Send_init world with 1:5 10
19 MPI_Request_free -
20 MPI_Request_free -
rank 1
1 MPI_Recv_init world from -2:5 0
2 MPI_Send_init world to 0:5 0
3 MPI_Startall -
4 - receive 4 of MPI_Recv_init world with -2:5 100
5 - send 5 of MPI_Send_init world with 0:5 11
6 MPI_Wait -
7 - sent 5 of MPI_Send_init world with 0:5 11
8 MPI_Wait -
9 - received 4 of MPI_Recv_init world with 0:5 10
10 MPI_Wait -
11 MPI_Start -
12 - receive 12 of MPI_Recv_init world with -2:5 100
13 MPI_Start -
14 - send 14 of MPI_Send_init world with 0:5 11
15 MPI_Wait -
16 - received 12 of MPI_Recv_init world with 0:5 10
17 MPI_Wait -
18 - sent 14 of MPI_Send_init world with 0:5 11
19 MPI_Request_free -
20 MPI_Request_free -
END

knows probed <<'END'
rank 0
1 MPI_Send world sends to 1:1 10
2 MPI_Send world sends to 1:1 11
3 MPI_Send world sends to 1:1 12
rank 1
1 MPI_Mprobe world receives posts from 0:1 0
2 MPI_Mprobe world receives posts from -2:-1 0
3 MPI_Improbe world receives posts from 0:1 0
4 MPI_Mrecv -
5 - received 3 of MPI_Improbe world with 0:1 12
6 MPI_Imrecv -
7 MPI_Mrecv -
8 - received 2 of MPI_Mprobe world with 0:1 11
9 MPI_Wait -
10 - received 1 of MPI_Imrecv world with 0:1 10
11 MPI_Mprobe world from -1:1 0
12 MPI_Mrecv -
13 - complete 11 of MPI_Mprobe world with -1:1 0
END

knows collectives <<'END'
rank 0
call barrier 0
call bcast 1
call allreduce 2
1 MPI_Ibcast world posts rooted ordered to 0:-1 21 from -1:3 0
2 MPI_Wait -
3 - complete 1 of MPI_Ibcast world with 0:3 0
4 MPI_Ibarrier world posts ordered from -1:4 0
5 MPI_Wait -
6 - complete 4 of MPI_Ibarrier world with -1:4 0
7 MPI_Bcast_init world to 1:-1 0
8 MPI_Start -
9 - prepared 9 of MPI_Bcast_init world with 1:5 0 22 start 1
10 MPI_Wait -
11 - complete 9 of MPI_Bcast_init world with 1:5 0
call barrier 3
12 MPI_Start -
13 - prepared 13 of MPI_Bcast_init world with 1:5 0 22 start 2
14 MPI_Wait -
15 - complete 13 of MPI_Bcast_init world with 1:5 0
call barrier 4
16 MPI_Request_free -
17 MPI_Gather world rooted ordered to 0:-1 3 from -1:8 6
call bcast 5
call barrier 6
18 MPI_Comm_dup world ordered from -1:11 0
19 MPI_Bcast dup rooted ordered to 0:-1 24 from -1:0 0
call barrier 0
call barrier 1
call bcast 2
20 MPI_Comm_free -
call bcast 7
rank 1
call barrier 0
call bcast 1
call allreduce 2
1 MPI_Ibcast world posts rooted ordered to 0:-1 0 from -1:3 21
2 MPI_Wait -
3 - complete 1 of MPI_Ibcast world with 0:3 0
4 MPI_Ibarrier world posts ordered from -1:4 0
5 MPI_Wait -
6 - complete 4 of MPI_Ibarrier world with -1:4 0
7 MPI_Bcast_init world to 1:-1 0
8 MPI_Start -
9 - prepared 9 of MPI_Bcast_init world with 1:5 22 0 start 1
10 MPI_Wait -
11 - complete 9 of MPI_Bcast_init world with 1:5 0
call barrier 3
12 MPI_Start -
13 - prepared 13 of MPI_Bcast_init world with 1:5 22 0 start 2
14 MPI_Wait -
15 - complete 13 of MPI_Bcast_init world with 1:5 0
call barrier 4
16 MPI_Request_free -
17 MPI_Gather world rooted ordered to 0:-1 3 from -1:8 0
18 MPI_Comm_dup world ordered from -1:11 0
19 MPI_Bcast dup rooted ordered to 0:-1 0 from -1:0 24
call barrier 0
call barrier 1
call bcast 2
20 MPI_Comm_free -
call bcast 7
END

knows between <<'END'
rank 0
1 MPI_Intercomm_create self ordered to -1:-1 CREATED from -1:0 0
2 MPI_Bcast inter rooted ordered to 0:-1 0 from -1:0 30
3 MPI_Barrier inter ordered from -1:1 0
4 MPI_Allreduce inter ordered to -1:-1 4 from -1:2 4
5 MPI_Sendrecv inter sends receives to 0:1 31 from 0:1 31
6 MPI_Comm_free -
rank 1
1 MPI_Intercomm_create self ordered to -1:-1 CREATED from -1:0 0
2 MPI_Bcast inter rooted ordered to -3:-1 30 from -1:0 0
3 MPI_Barrier inter ordered from -1:1 0
4 MPI_Allreduce inter ordered to -1:-1 4 from -1:2 4
5 MPI_Sendrecv inter sends receives to 0:1 31 from 0:1 31
6 MPI_Comm_free -
END

# For calls on windows, "from" is the window's number and a collective's position on it.
knows windows <<'END'
rank 0
1 MPI_Comm_dup world ordered from -1:0 0
2 MPI_Win_create dup ordered from 0:0 0
3 MPI_Win_fence dup ordered from 0:1 0
4 MPI_Put dup targets to 1:-1 32 from 0:-1 0
5 MPI_Get dup targets to 1:-1 0 from 0:-1 32
6 MPI_Win_fence dup ordered from 0:2 0
7 MPI_Win_free dup ordered from 0:3 0
8 MPI_Comm_free -
rank 1
1 MPI_Comm_dup world ordered from -1:0 0
2 MPI_Win_create dup ordered from 0:0 0
3 MPI_Win_fence dup ordered from 0:1 0
4 MPI_Put dup targets to 0:-1 32 from 0:-1 0
5 MPI_Get dup targets to 0:-1 0 from 0:-1 32
6 MPI_Win_fence dup ordered from 0:2 0
7 MPI_Win_free dup ordered from 0:3 0
8 MPI_Comm_free -
END

knows threads <<'END'
rank 0
1 thread 1 MPI_Send world sends to 1:2 40
2 MPI_Recv world receives from 1:2 40
rank 1
1 thread 1 MPI_Send world sends to 0:2 40
2 MPI_Recv world receives from 0:2 40
END

# A failed call takes no number among the communicator's calls.
knows errors <<'END'
rank 0
1 MPI_Send world failed to 5:7 0
call bcast 0
2 MPI_Sendrecv world sends receives to 1:3 1 from 1:3 1
call bcast 0
call barrier 0
call bcast 1
rank 1
1 MPI_Send world failed to 5:7 0
call bcast 0
2 MPI_Sendrecv world sends receives to 0:3 1 from 0:3 1
call bcast 0
call barrier 0
call bcast 1
END

record killed &
until { [ -s killed.out ] && print_logs killed && has_lines killed.log ' open ' 2; } >killed.look 2>&1 || ! kill -0 $!; do
    sleep 0.1
done
kill -KILL "$(cat killed.out)"
wait
print_logs killed
check "a killed rank's log shows the call it was in" \
    all 'is "" "$(grep -v "^rank\|^call\|open" killed.log)"' \
    'has_lines killed.log "^1 MPI_Recv world open from [01]:77 0$" 2'

STAGGER_TRACE_BYTES=1m record many
check "a program with more messages than the log can hold runs" is 0 "$status"
print_logs many
check "messages get half of the log, and the omitted ones are counted by function" \
    all 'within 8000 8192 "$(awk "/^rank 1/ { exit } /MPI_Sendrecv world/" many.log | wc -l)"' \
    'is 40000 "$(awk "/left out MPI_Sendrecv/ { sum += \$4; next } /MPI_Sendrecv/ { sum++ } END { print sum }" many.log)"'
check "all collectives have their records" has_lines many.log '^call barrier ' 40
"$STAGGER" recover many.trace >recover.out 2>&1
check "its trace is marked partial" has <("$STAGGER" report --all many.trace 2>&1) partial
