#!/bin/bash
# One run from several machines by mpirun: mpirun.sh hosts.txt 4 http://service.test/
#
# hosts.txt names the machines, as mpirun's --hostfile. Their clocks have to be kept by NTP or PTP; the folder is shared.
set -euo pipefail

start_at=$(date -u -d '+60 seconds' +%Y-%m-%dT%H:%M:%SZ)

mpirun --hostfile "$1" -n "$2" loadgen http "$3" --rate 20000 \
    --shard env --start-at "$start_at" --quiet --json 'run-{shard}.json'

loadgen report --merge --json run.json --html run.html run-*.json
