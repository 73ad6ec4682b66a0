#!/usr/bin/python3
"""The program of a custom module that misbehaves as its input says. test_custom_modules.py describes the module."""

import json
import os
import signal
import socket
import subprocess
import sys
import time


def answer(data: dict, **more) -> None:
    print(json.dumps({"ok": True, "module": sys.argv[1], "method": sys.argv[2], "data": data, **more}))


def attempt(action) -> str:
    try:
        return f"done: {action()}"
    except Exception as error:  # What happens is the answer.
        return type(error).__name__


def read(path: str) -> str:
    with open(path, "rb") as file:
        return str(len(file.read(100)))


def write(path: str) -> None:
    with open(path, "w") as file:
        file.write("x")


def try_everything(given: dict) -> None:
    answer({"uid": os.getuid(),
            "environment": sorted(os.environ),
            "descriptors": sorted(number for number in range(64) if attempt(lambda: os.fstat(number)).startswith("done")),
            "tried": {"fork": attempt(os.fork), "socket": attempt(lambda: socket.socket().close()),
                      "setsid": attempt(os.setsid), "server's environment": attempt(lambda: read(f"/proc/{os.getppid()}/environ")),
                      "database": attempt(lambda: read(given["path"])), "write": attempt(lambda: write("/tmp/runnel-bad-module")),
                      "kill": attempt(lambda: os.kill(os.getppid(), 0)), "passwords": attempt(lambda: read("/etc/shadow"))}})


def leave_a_tree(given: dict) -> None:
    """Grandchildren that ignore what they can, and a parent that hangs, or that answers and ends."""
    code = ("import os, signal, time\n"
            "for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, signal.SIG_IGN)\n"
            "os.fork(); time.sleep(1000)")
    subprocess.Popen([sys.executable, "-c", code, given["path"]])
    time.sleep(0.3)
    if given["how"] == "leave a tree":
        answer({"left": True})
    else:
        time.sleep(1000)


def main() -> None:
    given = json.load(sys.stdin)
    how = given["how"]
    if how == "try everything":
        try_everything(given)
    elif how in ("leave a tree", "leave a tree and hang"):
        leave_a_tree(given)
    elif how == "hang":
        time.sleep(1000)
    elif how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    elif how == "garbage":
        print("sunny")
    elif how == "two documents":
        answer({})
        answer({})
    elif how == "do a part":
        answer({"done": 2, "failed": 1}, partial=True)
    elif how == "do all":
        answer({"done": 3}, partial=False)
    elif how == "do something":
        answer({}, partial="some")
    elif how == "say nothing":
        pass
    elif how == "another method":
        print(json.dumps({"ok": True, "module": "calendar", "method": "create", "data": {}}))
    elif how == "exit 126":
        sys.exit(126)
    elif how == "debug and die":
        print("debugging")
        sys.exit("a traceback of the module")
    elif how == "fail with a code of the server":
        print(json.dumps({"ok": False, "module": sys.argv[1], "method": sys.argv[2],
                          "error": {"code": "TOOL_TIMEOUT", "message": "upstream", "retry": 3}}))
    elif how == "tell the secret":
        answer({"secret": os.environ["BAD_MODULE_KEY"]})
    elif how == "tell the secret to stderr":
        print(os.environ["BAD_MODULE_KEY"], file=sys.stderr)
        sys.exit(3)
    elif how == "connect":
        with socket.create_connection(("127.0.0.1", int(given["path"])), timeout=5):
            answer({"connected": True})
    elif how == "wait for a file":
        print("started", file=sys.stderr, flush=True)
        time.sleep(3)
        answer({"repeat": os.environ["RUNNEL_REPEAT"]})


if __name__ == "__main__":
    main()
