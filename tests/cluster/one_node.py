"""A Slurm of one node on loopback, without systemd: munge, slurmctld and slurmd of the system.

``python tests/cluster/one_node.py FOLDER`` starts it, and prints what its commands need.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")

_CONFIGURATION = """\
ClusterName=alone
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort={port}
SlurmdPort={node_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/log/jobcomp.log
KillWait=10
MinJobAge=3600
JobRequeue=1
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=32 RealMemory=128000 State=UNKNOWN
PartitionName=compute Nodes={host} Default=YES MaxTime=UNLIMITED DefMemPerCPU=2000 State=UP
"""


class NoSlurmError(RuntimeError):
    """The daemons of Slurm do not come up on this machine."""


def what_is_missing() -> str:
    """Return why a Slurm cannot be started here; empty if it can."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    lacking = [name for name in NEEDED if shutil.which(name, path=path) is None]
    if lacking:
        return f"Slurm is not installed: no {', '.join(lacking)} (apt-get install slurm-wlm munge)"
    return "" if os.geteuid() == 0 else "Slurm's daemons need root here"


def _free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])


@contextlib.contextmanager
def one_node_slurm(folder: Path) -> Iterator[dict[str, str]]:
    """Start the daemons; yield the environment of the commands; end the daemons by their pids."""
    for name in ("munge", "state", "spool", "log"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "munge").chmod(0o700)
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    host = socket.gethostname()
    ports = {"port": _free_port(), "node_port": _free_port()}
    text = _CONFIGURATION.format(host=host, folder=folder, **ports)
    (folder / "slurm.conf").write_text(text)
    # 22.05 has no plugin that is called "disabled".
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")
    environment = {
        **os.environ,
        "SLURM_CONF": str(folder / "slurm.conf"),
        "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
    }
    munge = [f"--{what}={folder}/munge/{what}" for what in ("socket", "pid-file", "seed-file")]
    commands = (
        ["munged", "--foreground", "--force", f"--key-file={key}", *munge,
         f"--log-file={folder}/log/munged.log"],
        ["slurmctld", "-D"],
        ["slurmd", "-D", "-N", host],
    )  # fmt: skip
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            log = (folder / "log" / f"{command[0]}.out").open("wb")
            daemons.append(
                subprocess.Popen(
                    command, env=environment, cwd=folder, stdout=log, stderr=log,
                    start_new_session=True,
                )
            )  # fmt: skip
            log.close()
            time.sleep(1)
        _wait_until_idle(environment, folder)
        yield environment
    finally:
        _end_jobs(environment)
        for daemon in reversed(daemons):
            daemon.terminate()
            try:
                daemon.wait(30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _end_jobs(environment: dict[str, str]) -> None:
    """Cancel what a test that failed has left: jobs outlive the daemons."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        for _ in range(30):
            asked = subprocess.run(
                ["squeue", "-h"], env=environment, capture_output=True, timeout=30
            )
            if not asked.stdout.strip():
                return
            subprocess.run(["scancel", f"--user={os.getuid()}"], env=environment, timeout=30)
            time.sleep(1)


def _wait_until_idle(environment: dict[str, str], folder: Path) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        asked = subprocess.run(
            ["sinfo", "-h", "-o", "%t"], env=environment, capture_output=True, text=True
        )
        if asked.stdout.strip() == "idle":
            return
        time.sleep(1)
    logs = "\n".join(file.read_text()[-2000:] for file in (folder / "log").iterdir())
    raise NoSlurmError(f"the node of Slurm does not come up:\n{logs}")


if __name__ == "__main__":
    where = Path(sys.argv[1]).resolve()
    with one_node_slurm(where) as settings:
        sys.stdout.write(f"export SLURM_CONF={settings['SLURM_CONF']}  # until Ctrl-C\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(10**6)
