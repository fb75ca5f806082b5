"""Protection of processes from one another, though all belong to one user (Linux).

`hide` closes the memory and the descriptors of a process to the other processes of its user. The
administrator may look into hidden processes all the same, and every process may lower the limits
of others; `disarm` takes both from the processes in which strategies run.
"""

import ctypes
import errno
import platform
import struct
import sys

_SET_DUMPABLE, _CAPBSET_DROP, _SET_NO_NEW_PRIVS = 4, 24, 38  # of <linux/prctl.h>
_CAPABILITIES_3 = 0x20080522  # version of the layout of capget and capset
# SYS_MODULE, SYS_RAWIO, SYS_PTRACE, SYS_ADMIN, SYS_RESOURCE, PERFMON, BPF, CHECKPOINT_RESTORE:
# each lets an administrator's process into the memory or the limits of others.
_POWERS = (16, 17, 19, 21, 24, 38, 39, 40)
# Of each machine: its number in filters of system calls, those of prlimit64 and of seccomp.
_CALLS = {"x86_64": (0xC000003E, 302, 317), "aarch64": (0xC00000B7, 261, 277)}
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # codes of <linux/bpf_common.h>
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_WITH_FILTER, _KEEP_SPEED = 1, 4  # of <linux/seccomp.h>


def hide(hidden: bool = True) -> None:
    """Deny other processes of the user the memory and descriptors of this one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, int(not hidden), 0, 0, 0)


def disarm() -> None:
    """Drop, for good and for all descendants, the rights that open hidden processes and limits."""
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
    _leave_limits_of_others(libc)


def _leave_limits_of_others(libc: ctypes.CDLL) -> None:
    """Make the system refuse changes of another process's limits, and calls in another form."""
    if platform.machine() not in _CALLS:
        return
    machine, prlimit, seccomp = _CALLS[platform.machine()]
    lines = [
        (_LOAD, 0, 0, 4),  # the machine
        (_EQUAL, 0, 6, machine),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_AT_LEAST, 4, 0, 0x40000000),  # numbers of 32-bit programs
        (_EQUAL, 0, 2, prlimit),
        (_LOAD, 0, 0, 16),  # its first argument: the process, 0 for the caller's own
        (_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    code = b"".join(struct.pack("<HBBI", *line) for line in lines)
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("@HP", len(lines), ctypes.addressof(buffer))
    libc.syscall(seccomp, _WITH_FILTER, _KEEP_SPEED, program)
