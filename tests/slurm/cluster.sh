#!/usr/bin/env bash
# A SLURM of one node, this machine, for the tests.
#
#   tests/slurm/cluster.sh start FOLDER    starts it, with all its files in FOLDER
#   tests/slurm/cluster.sh stop FOLDER     ends it, with its jobs
#
# Besides, /etc/slurm has two links while it runs: the executor plugin of Snakemake drops SLURM_CONF
# from the environment of its job steps, so that a configuration elsewhere is not found.
#
# For root on Debian, whose slurm-wlm and munge are installed where they are missing. No accounting,
# no cgroups; CPUs are bound, and the two GPUs are copies of /dev/null that SLURM takes for some.
set -euo pipefail

command=${1:?start or stop}
folder=$(realpath -m "${2:?the folder of the cluster}")
links=(/etc/slurm/{slurm,gres}.conf)

install_packages() {
    command -v slurmctld slurmd munged > /dev/null && return
    apt-get update > /dev/null
    # Services are ours to start; a container has no init that could.
    printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
    DEBIAN_FRONTEND=noninteractive apt-get install --yes slurm-wlm munge > /dev/null
    rm /usr/sbin/policy-rc.d
}

write_configuration() {
    local host memory
    host=$(hostname -s)
    memory=$(free --mebi | awk '/^Mem:/ {print $2 - 1000}')
    mkdir -p "$folder"/{munge,state,spool}
    head --bytes=128 /dev/urandom > "$folder/munge/key"
    chmod 600 "$folder/munge/key"
    rm -f "$folder"/gpu{0,1}
    mknod "$folder/gpu0" c 1 3
    mknod "$folder/gpu1" c 1 3
    cat > "$folder/slurm.conf" << CONF
ClusterName=tests
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
MailProg=/bin/true
MpiDefault=none
ReturnToService=2
MinJobAge=3600
KillWait=5
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(getconf _NPROCESSORS_ONLN) RealMemory=$memory Gres=gpu:fake:2
PartitionName=other Nodes=$host Default=YES MaxTime=INFINITE
PartitionName=measured Nodes=$host MaxTime=INFINITE
CONF
    echo "Name=gpu Type=fake File=$folder/gpu[0-1] Flags=nvidia_gpu_env" > "$folder/gres.conf"
}

start() {
    install_packages
    if [[ -e ${links[0]} ]]; then
        echo "cluster.sh: ${links[0]} is there: this machine belongs to a SLURM already" \
            "(one that a killed test left behind ends by: cluster.sh stop FOLDER)" >&2
        exit 1
    fi
    write_configuration
    ln --symbolic --force "$folder"/{slurm,gres}.conf /etc/slurm/
    # --force: the folder may be below one that others may write to, as /tmp is.
    munged --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
        --pid-file="$folder/munged.pid" --log-file="$folder/munge/log" \
        --seed-file="$folder/munge/seed"
    slurmctld -c
    slurmd
    for _ in $(seq 60); do
        if [[ $(sinfo --noheader --partition=measured --format=%t 2> /dev/null) == idle ]]; then
            return
        fi
        sleep 1
    done
    tail --lines=20 "$folder"/slurm*.log >&2
    echo "cluster.sh: no idle node after a minute" >&2
    exit 1
}

stop() {
    local name pid
    scancel --user=root 2> /dev/null || true
    sleep 1
    for name in slurmd slurmctld munged; do
        pid=$(cat "$folder/$name.pid" 2> /dev/null) || continue
        kill "$pid" 2> /dev/null || continue
        while kill -0 "$pid" 2> /dev/null; do sleep 0.2; done
    done
    for name in "${links[@]}"; do
        if [[ $(readlink "$name") == "$folder"/* ]]; then rm "$name"; fi
    done
}

case $command in
    start) start ;;
    stop) stop ;;
    *)
        echo "cluster.sh: $command: start or stop" >&2
        exit 2
        ;;
esac
