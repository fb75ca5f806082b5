"""Protection of processes from one another, though all belong to one user (Linux).

`hide` closes the memory and the descriptors of a process to the other processes of its user. The
administrator may look into hidden processes all the same; `disarm` takes that from the processes in
which strategies run.
"""

import ctypes
import struct
import sys

_SET_DUMPABLE, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 4, 24, 38  # of <linux/prctl.h>
_CAPABILITIES_3 = 0x20080522  # version of the layout of capget and capset
# SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_ADMIN, SYS_RESOURCE, PERFMON, BPF, CHECKPOINT_RESTORE:
# each lets an administrator's process into the memory or the limits of others.
_POWERS = (16, 17, 19, 21, 24, 38, 39, 40)


def hide(hidden: bool = True) -> None:
    """Deny other processes of the user the memory and descriptors of this one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, int(not hidden), 0, 0, 0)


def disarm() -> None:
    """Drop, for good and for all descendants, the rights that open hidden processes."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    for power in _POWERS:
        libc.prctl(_CAPBSET_DROP, power, 0, 0, 0)  # else a program that it starts has it again
    who, held = struct.pack("<Ii", _CAPABILITIES_3, 0), ctypes.create_string_buffer(24)
    if not libc.capget(who, held):
        # Two halves, each of what is effective, permitted and inherited.
        halves = list(struct.unpack("<6I", held.raw))
        for power in _POWERS:
            for kind in range(3):
                halves[power // 32 * 3 + kind] &= ~(1 << power % 32)
        libc.capset(who, struct.pack("<6I", *halves))
    libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
