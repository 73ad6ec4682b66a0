"""The filter of system calls of a running process: it is read from the process and tried, without making the calls."""

import ctypes
import errno
import os
import struct

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_SECCOMP_GET_FILTER = 17, 0x4206, 0x4207, 0x420C
X86_64 = 0xC000003E  # AUDIT_ARCH_X86_64
ALLOWED = 0x7FFF0000
REFUSED = 0x00050000  # SECCOMP_RET_ERRNO; the lower half is the error.

Step = tuple[int, int, int, int]  # The code, where to go if true and if false, and the constant.


def ptrace(request: int, pid: int, address: int = 0, data: object = None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    done = libc.ptrace(request, pid, ctypes.c_void_p(address), data)
    if done < 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return done


class Unreadable(Exception):
    """The kernel does not show the filter: not to this user, or not at all."""


def read_filter(pid: int) -> list[Step]:
    """The process's only filter. Needs root; the process must be a child of this one, and it goes on after it."""
    try:
        ptrace(PTRACE_SEIZE, pid)
    except PermissionError as error:
        raise Unreadable(str(error)) from error
    ptrace(PTRACE_INTERRUPT, pid)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSTOPPED(status):
        raise RuntimeError(f"the process has ended with the status {status}")
    try:
        steps = ctypes.create_string_buffer(4096 * 8)
        count = ptrace(PTRACE_SECCOMP_GET_FILTER, pid, 0, steps)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EINVAL, errno.EIO):
            raise
        raise Unreadable(str(error)) from error
    finally:
        ptrace(PTRACE_DETACH, pid)
    return [struct.unpack_from("=HBBI", steps, 8 * i) for i in range(count)]


def outcome(steps: list[Step], call: int, arguments: tuple[int, ...] = (), architecture: int = X86_64) -> int:
    """What the filter answers to this call."""
    call_data = struct.pack("=IIQ6Q", call, architecture, 0, *(arguments + (0,) * 6)[:6])
    value, at = 0, 0
    while True:
        code, if_true, if_false, constant = steps[at]
        jumps = {0x15: value == constant, 0x25: value > constant, 0x35: value >= constant, 0x45: bool(value & constant)}
        at += 1
        if code == 0x06:  # BPF_RET | BPF_K
            return constant
        if code == 0x20:  # BPF_LD | BPF_W | BPF_ABS
            value = struct.unpack_from("=I", call_data, constant)[0]
        elif code == 0x54:  # BPF_ALU | BPF_AND | BPF_K
            value &= constant
        elif code == 0x05:  # BPF_JMP | BPF_JA
            at += constant
        elif code in jumps:
            at += if_true if jumps[code] else if_false
        else:
            raise ValueError(f"a step of the filter has the code {code:#x}, which libseccomp does not write")
