#!/bin/bash
# One run from several machines by Open MPI: mpirun.sh hosts.txt 4 http://service.test/ --rate 20000
#
# hosts.txt names the machines, as mpirun's --hostfile. Their clocks have to be kept by NTP or PTP, or add
# --clock-reference; the folder is shared. START_IN is how many seconds every process may take to start and to open its
# connections.
set -euo pipefail

hosts=$1 count=$2
shift 2
run=run-$(date -u +%Y%m%dT%H%M%S)
start_at=$(date -u -d "+${START_IN:-60} seconds" +%Y-%m-%dT%H:%M:%SZ)

# --continuous: without it, a process that is lost, or ends with a status of its own, takes all others with it. What came of
# all, the merge says, and a part that is lost, it names.
mpirun --continuous --hostfile "$hosts" -n "$count" loadgen http "$@" \
    --shard env --start-at "$start_at" --quiet --json "$run-{shard}.json" || true

loadgen report --merge --json "$run.json" --html "$run.html" "$run"-*.json
