"""What project_cli does, as such programs are written in Python: pydantic checks the input, httpx asks the server.

It takes MODULE METHOD [--mode=M] [--format=json], a JSON object on its standard input, the credential from its
environment and a connection to the server as descriptor 3, and prints one JSON document.
"""

import argparse
import json
import os
import socket
import sys
from datetime import date, datetime
from typing import Literal, Optional

import httpcore
import httpx
from httpcore.backends.base import NetworkBackend
from httpcore.backends.sync import SyncStream
from pydantic import BaseModel, Extra, Field, ValidationError

CONNECTION = 3


class Input(BaseModel, extra=Extra.forbid):
    pass


class Create(Input):
    title: str = Field(min_length=1, max_length=200)
    start_at: datetime
    end_at: datetime
    timezone: Optional[str]
    location: Optional[str] = Field(max_length=200)
    description: Optional[str] = Field(max_length=4000)


class Read(Input):
    mode: Literal["day", "range", "event"]
    date: Optional[date]
    start_at: Optional[datetime]
    end_at: Optional[datetime]
    event_id: Optional[str]


METHODS = {("calendar", "create"): Create, ("calendar", "read"): Read}


class Inherited(NetworkBackend):
    """Every connection is the one that the program was started with."""

    def connect_tcp(self, *_, **__):
        return SyncStream(socket.socket(fileno=CONNECTION))


class OnDescriptor(httpx.BaseTransport):
    def __init__(self):
        self._pool = httpcore.ConnectionPool(network_backend=Inherited())

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(scheme=request.url.raw_scheme, host=request.url.raw_host, port=request.url.port,
                           target=request.url.raw_path)
        answer = self._pool.handle_request(
            httpcore.Request(request.method, url, headers=request.headers.raw, content=request.stream))
        return httpx.Response(answer.status, headers=answer.headers, content=answer.read())


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module")
    parser.add_argument("method")
    parser.add_argument("--mode")
    parser.add_argument("--format", choices=["json"], default="json")
    return parser.parse_args()


def call(options: argparse.Namespace, credential: str, text: bytes) -> dict:
    try:
        given = METHODS[options.module, options.method].parse_raw(text)
        if options.mode and getattr(given, "mode", None) != options.mode:
            return {"error": {"code": "INVALID_INPUT", "message": "--mode is not the mode of the input"}}
    except (KeyError, ValidationError) as error:
        return {"error": {"code": "INVALID_INPUT", "message": str(error)}}
    headers = {"Authorization": f"Bearer {credential}", "Content-Type": "application/json", "Connection": "close"}
    with httpx.Client(transport=OnDescriptor(), trust_env=False) as client:
        answer = client.post(f"http://runnel/api/v1/tools/{options.module}/{options.method}", content=text,
                             headers=headers)
    return {"data": answer.json()} if answer.status_code == 200 else answer.json()


def main() -> int:
    options = parse()
    outcome = call(options, os.environ.pop("RUNNEL_TOOL_CREDENTIAL"), sys.stdin.buffer.read())
    print(json.dumps({"ok": "data" in outcome, "module": options.module, "method": options.method, **outcome}))
    return 0 if "data" in outcome else 1


if __name__ == "__main__":
    sys.exit(main())
