#!/bin/bash
# A batch of 30 runs through Slurm, on a cluster of one node that this script sets up, beside the plain command: the tables
# must be the same bytes, with a worker killed on the way, and with two runners at a time. Then one run that is shared out over
# jobs, by Snakemake and by job arrays.
#
# Needs root on a machine of its own with Debian's packages: apt-get install slurm-wlm munge. Run it from the project's folder.
# It starts munged, slurmctld and slurmd if they do not run, and stops at the end those that it started. Snakemake's plugin
# for Slurm is installed into build/slurm/env in the first run, for which a network is needed.
set -euo pipefail

PYTHON=${PYTHON:-.venv/bin/python}
FOLDER=$PWD/build/slurm
RUNS="mnist --dataset digits --degree 3 --random-state 200:230"
ONE=${ONE:-mnist --dataset digits --degree 3 --random-state 300} # the run that is shared out
mkdir -p "$FOLDER"/{state,spool}
say() { printf '\n== %s\n' "$*"; }
started=()
finish() { # what was kept under build/results before is put back
    for id in "${started[@]}"; do kill "$id" 2> /dev/null || true; done
    rm -rf build/results
    [ ! -d "$FOLDER/results" ] || mv "$FOLDER/results" build/results
}
[ ! -d build/results ] || mv build/results "$FOLDER/results"
trap finish EXIT

if [ ! -x "$FOLDER/env/bin/python" ]; then
    "$PYTHON" -m venv "$FOLDER/env"
    "$PYTHON" -c 'import site; print(site.getsitepackages()[0])' \
        > "$("$FOLDER/env/bin/python" -c 'import site; print(site.getsitepackages()[0])')/project.pth"
    "$FOLDER/env/bin/python" -m pip install --quiet snakemake-executor-plugin-slurm==2.8.0
fi
PYTHON=$FOLDER/env/bin/python

say "a cluster of one node"
CONF=/etc/slurm/slurm.conf # where jobs look for it: they do not get the environment of the one who submits them
if [ -e "$CONF" ] && ! grep -q "^ClusterName=one$" "$CONF"; then
    echo "$CONF is of another cluster; run this on a machine of its own" >&2
    exit 1
fi
cat > "$CONF" <<CONF
ClusterName=one
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
StateSaveLocation=$FOLDER/state
SlurmdSpoolDir=$FOLDER/spool
SlurmctldPidFile=$FOLDER/slurmctld.pid
SlurmdPidFile=$FOLDER/slurmd.pid
SlurmctldLogFile=$FOLDER/slurmctld.log
SlurmdLogFile=$FOLDER/slurmd.log
ReturnToService=2
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(free -m | awk '/^Mem/ { print int($2 * 0.9) }')
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
serve() { # a daemon that stays in the foreground, unless it runs
    pgrep -x "$1" > /dev/null && return
    "$@" > "$FOLDER/$1.out" 2>&1 &
    started+=($!)
    sleep 2
}
mkdir -p /run/munge && chown munge: /run/munge
pgrep -x munged > /dev/null || { runuser -u munge -- /usr/sbin/munged --foreground > "$FOLDER/munged.out" 2>&1 & started+=($!); sleep 2; }
serve slurmctld -D
serve slurmd -D
sinfo

say "the plain command"
time "$PYTHON" -m study run $RUNS --target "$FOLDER/plain.csv"

kill_one() { # three seconds after the first job has started
    until job=$(squeue --noheader --states=running --format=%i | head -n 1) && [ -n "$job" ]; do sleep 0.2; done
    sleep 3
    scancel --signal=KILL --full "$job"
    echo "killed job $job"
}
batch() { # through Slurm: the runs, and the table to write
    "$PYTHON" -m snakemake --profile workflow/profiles/slurm --workflow-profile none --set-threads runs_part=1 \
        --set-resources runs_part:mem_mb=2000 --slurm-init-seconds-before-status-checks 5 --config runs="$1" table="$2" -- runs \
        > "$FOLDER/batch.log" 2>&1 || tail -n 30 "$FOLDER/batch.log"
    grep -E "submitted|Error in rule|Trying to restart|failed|steps|runs?,|Nothing" "$FOLDER/batch.log" || true
}

rm -rf build/results build/runs/marks "$FOLDER/cluster.csv"
say "the same through Slurm, in three jobs; the first that runs is killed"
kill_one &
time batch "$RUNS" "$FOLDER/cluster.csv"
cmp "$FOLDER/plain.csv" "$FOLDER/cluster.csv"; echo "the tables are the same bytes"

say "again: nothing is left to do"
batch "$RUNS" "$FOLDER/cluster.csv" | grep "Nothing to be done"

say "two runners on one folder at the same time"
rm -rf build/results
"$PYTHON" -m study run $RUNS --target "$FOLDER/one.csv" > /dev/null &
"$PYTHON" -m study run $RUNS --target "$FOLDER/two.csv" > /dev/null
wait $!
cmp "$FOLDER/plain.csv" "$FOLDER/one.csv"; cmp "$FOLDER/plain.csv" "$FOLDER/two.csv"; echo "the tables are the same bytes"

say "one run on one machine"
rm -rf build/results "$FOLDER"/{one,snakemake,arrays}.*
time "$PYTHON" -m study run $ONE --target "$FOLDER/one.csv" > /dev/null

say "the same run shared out by Snakemake; a job of the first stage is killed"
rm -rf build/results build/runs/marks
kill_one &
time batch "$ONE --shares 3" "$FOLDER/snakemake.csv"
cmp "$FOLDER/one.csv" "$FOLDER/snakemake.csv"; cmp "$FOLDER/one.json" "$FOLDER/snakemake.json"; echo "the tables are the same bytes"

say "the same run shared out by two job arrays"
rm -rf build/results
submit() { sbatch --parsable --mem=2000 --output="$FOLDER/%x-%A-%a.log" --job-name="$@"; }
part="$PYTHON -m study run $ONE --shares 3 --part \$SLURM_ARRAY_TASK_ID"
learn=$(submit learn --array=0-2 --wrap="$part")
count=$(submit count --array=3-5 --dependency="afterok:$learn" --wrap="$part")
time submit gather --wait --dependency="afterok:$count" --wrap="$PYTHON -m study run $ONE --shares 3 --target $FOLDER/arrays.csv"
cmp "$FOLDER/one.csv" "$FOLDER/arrays.csv"; cmp "$FOLDER/one.json" "$FOLDER/arrays.json"; echo "the tables are the same bytes"
