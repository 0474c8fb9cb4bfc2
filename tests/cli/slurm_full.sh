#!/bin/bash
# Ranks under Slurm: runs Debian's daemons, all on one machine, in an empty system, so that
# tests/cli/launchers.sh finds srun and salloc.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/lib/root.bash"
title="ranks have the library under Slurm"

PACKAGES=slurmctld,slurmd,slurm-client,munge,mpich,libotf2-trace-dev,libunwind-dev,libdw-dev,libjansson-dev,uthash-dev
PACKAGES+=,otf2-tools,python3-otf2,python3-six,procps
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
reason=$(no_system) && { skip "$title" "$reason"; exit 0; }
make_system "$suite" minbase "$PACKAGES" >reason || { skip "$title" "mmdebstrap makes no $suite: $(cat reason)"; exit 0; }

# Avoids the ports of a Slurm that this machine may run. Slurm's process tracking by control groups
# needs more of them than an empty system has.
host=$(uname -n)
cat >"$system/etc/slurm/slurm.conf" <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=26817
SlurmdPort=26818
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SwitchType=switch/none
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldLogFile=/var/log/slurmctld.log
SlurmdLogFile=/var/log/slurmd.log
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
cat >"$system/root/with_slurm" <<'END'
#!/bin/sh
mkdir -p /run/munge /run/slurm /var/spool/slurmctld /var/spool/slurmd
chown munge: /run/munge /etc/munge/munge.key
runuser -u munge -- /usr/sbin/munged && slurmctld && slurmd || exit
exec "$@"
END
chmod +x "$system/root/with_slurm"

tree=$ROOT
inside 900 env BUILD="$BUILD" /root/with_slurm bash "$ROOT/tests/cli/launchers.sh" >launchers.out 2>&1
status=$?
sed 's/^/# /' launchers.out
for each in 'srun' 'Hydra in an allocation of Slurm'; do
    check "$title: $each" all "is 0 $status" "has launchers.out '^ok - [.][.][.] ranks have it under $each\$'" ||
        tail -n 20 "$system"/var/log/slurm*.log
done
