"""Ready-made answers of a fake provider, good and bad."""

import itertools
import json
import time
from email.utils import formatdate
from pathlib import Path

from fake_answer import Answer, Framing
from fake_chunks import USAGE_ALONE, Part, Raw, ToolCall, Wire, completion, recording, usage

JSON = {"Content-Type": "application/json"}
HTML = {"Content-Type": "text/html; charset=utf-8"}

ERRORS = {  # status: (type, code, message)
    400: ("invalid_request_error", "invalid_request_error", "The request is invalid."),
    401: ("authentication_error", "invalid_api_key", "Authentication fails: the API key is invalid."),
    402: ("unknown_error", "invalid_request_error", "Insufficient Balance"),
    403: ("access_denied", "access_denied", "Access denied."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    408: ("timeout_error", None, "The request took too long."),
    422: ("invalid_request_error", "invalid_request_error", "A parameter is invalid."),
    429: ("rate_limit_error", "rate_limit_exceeded", "Rate limit reached."),
    500: ("server_error", "internal_server_error", "The server had an error."),
    502: ("server_error", "bad_gateway", "Bad gateway."),
    503: ("service_unavailable_error", "service_unavailable", "The server is overloaded."),
    504: ("server_error", "gateway_timeout", "Gateway timeout."),
}


def stream(parts: list[Part], finish: str | None = "stop", numbers: dict | None = None, usage_on: str = USAGE_ALONE,
           wire: Wire = Wire(), model: str = "fake") -> Answer:
    """A scripted answer, with one write per event. It has no usage if `numbers` is None."""
    return Answer(wire.frame(completion(parts, finish, numbers, usage_on, model)))


def text(*pieces: str, **how) -> Answer:
    """A text with usage: one output token per piece."""
    return stream(list(pieces), numbers=usage(10, len(pieces)), **how)


def stalled(parts: list[Part]) -> Answer:
    """These parts of an answer, and then nothing until the client closes the connection."""
    pieces = Wire(done=False).frame(completion(parts, finish=None))
    return Answer(pieces).hung(sum(len(piece) for piece in pieces))


def replay(path: Path, wire: Wire = Wire()) -> Answer:
    return Answer(recording(path, wire))


def error_object(message: str, kind: str = "server_error", code: str | int | None = None) -> dict:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def json_answer(status: int, body) -> Answer:
    return Answer((json.dumps(body).encode(),), status, JSON, Framing.LENGTH)


def error(status: int, message: str | None = None, code: str | int | None = None, kind: str | None = None) -> Answer:
    """An error as OpenAI writes it. What is not given is what usually comes with the status."""
    usual_kind, usual_code, usual_message = ERRORS.get(status, ("server_error", None, "An error."))
    return json_answer(status, error_object(message or usual_message, kind or usual_kind, code or usual_code))


def retry_headers(seconds: float | None = None, date: float | None = None, milliseconds: int | None = None) -> dict:
    """When to try again: in `seconds`, at the HTTP date that is `date` seconds from now, or in `milliseconds`."""
    headers = {}
    if seconds is not None:
        headers["retry_after"] = f"{seconds:g}"
    if date is not None:
        headers["retry_after"] = formatdate(time.time() + date, usegmt=True)
    if milliseconds is not None:
        headers["retry_after_ms"] = str(milliseconds)
    return headers


def rate_limited(**when) -> Answer:
    """Status 429; `when` as for `retry_headers`."""
    return error(429).with_headers(**retry_headers(**when))


def html(status: int = 502) -> Answer:
    """The error page of a gateway; with status 200 it is like the login page of a public network."""
    page = f"<html><head><title>{status}</title></head><body><h1>{status}</h1><hr>nginx</body></html>\n"
    return Answer((page.encode(),), status, HTML, Framing.LENGTH)


def malformed() -> Answer:
    """A data line that is not JSON, after some text."""
    return stream(["Some ", "text"] + [Raw('{"id":"chatcmpl-fake","choices":[{"index":0,"del')])


def reports_error(*before: str, message: str = "The model crashed.", code: str | int | None = 500) -> Answer:
    """An error object inside a stream with status 200, followed by `[DONE]`, as vLLM sends it."""
    return stream([*before, error_object(message, code=code)], finish=None)


def cut_tool_call(name: str = "weather", arguments: str = '{"location": "San Franc') -> Answer:
    """The tokens ran out inside the arguments: the incomplete call must not be executed."""
    return stream([ToolCall(name, arguments)], finish="length", numbers=usage())


def keep_alive_flood(delay: float = 0.01) -> Answer:
    """Endless comments and never a payload."""
    return Answer(itertools.repeat(b": keep-alive\n\n"), delay=delay)


def long_line(size: int = 10_000_000) -> Answer:
    """One data line with a text of `size` bytes."""
    return text("x" * size)


def echoes_key(authorization: str, where: str = "body") -> Answer:
    """Shows the caller's key where a careless client would log it: `body`, `stream` (mid-stream error) or `html`."""
    message = f"Incorrect API key provided: {authorization}"
    if where == "stream":
        return reports_error("Some ", "text", message=message, code="invalid_api_key")
    if where == "html":
        return Answer((f"<html><body>{message}</body></html>\n".encode(),), 502, HTML, Framing.LENGTH)
    return error(401, message).with_headers(x_echo_authorization=authorization)
