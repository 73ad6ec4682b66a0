"""What real vendors refuse in a request: the strict mode of the fake provider.

A check returns the vendor's error message, or None if it accepts the request. The texts are the vendors' own; those
that begin with "fake provider:" are for this project's rules, which no vendor enforces.
"""

from typing import Callable

from fake_answer import Answer
from fake_http import Request
from fake_scripts import error

Check = Callable[[dict], str | None]


def asks_for_usage(body: dict) -> str | None:
    options = body.get("stream_options")
    if isinstance(options, dict) and options.get("include_usage") is True:
        return None
    return "fake provider: stream_options.include_usage must be true"


def answers_every_call(body: dict) -> str | None:
    """Each tool call in the history must be followed by its result."""
    open_calls: set[str] = set()
    for message in body["messages"]:
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                return "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            open_calls.remove(message["tool_call_id"])
        elif open_calls:
            break
        else:
            open_calls = {call.get("id") for call in message.get("tool_calls") or ()}
    if open_calls:
        return ("An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. (insufficient tool messages following tool_calls message)")
    return None


def says_json(body: dict) -> str | None:
    wants_json = (body.get("response_format") or {}).get("type") == "json_object"
    if not wants_json or any("json" in str(message.get("content")).lower() for message in body["messages"]):
        return None
    return "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."


def forces_tool(body: dict) -> bool:
    choice = body.get("tool_choice")
    return choice == "required" or isinstance(choice, dict)


def deepseek_thinks(body: dict) -> bool:
    return (body.get("thinking") or {}).get("type") != "disabled"  # Thinking is on by default.


def deepseek_tool_choice(body: dict) -> str | None:
    if deepseek_thinks(body) and forces_tool(body):
        return "Thinking mode does not support this tool_choice"
    return None


def deepseek_reasoning(body: dict) -> str | None:
    """The reasoning must be passed back even if it is empty."""
    turns = [message for message in body["messages"] if message.get("tool_calls")]
    if deepseek_thinks(body) and not all(isinstance(turn.get("reasoning_content"), str) for turn in turns):
        return "The reasoning_content in the thinking mode must be passed back to the API."
    return None


def dashscope_tool_choice(body: dict) -> str | None:
    if body.get("enable_thinking") is True and forces_tool(body):
        return ("<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to "
                "required or object in thinking mode")
    return None


def openai_parameters(body: dict) -> str | None:
    for name in ("thinking", "enable_thinking", "thinking_budget"):
        if name in body:
            return f"Unrecognized request argument supplied: {name}"
    if "parallel_tool_calls" in body and not body.get("tools"):
        return "'parallel_tool_calls' is only allowed when 'tools' are specified."
    return None


EVERYWHERE: tuple[Check, ...] = (asks_for_usage, answers_every_call, says_json)
VENDORS: dict[str, tuple[Check, ...]] = {
    "deepseek": (*EVERYWHERE, deepseek_tool_choice, deepseek_reasoning),
    "dashscope": (*EVERYWHERE, dashscope_tool_choice),
    "openai": (*EVERYWHERE, openai_parameters),
}


def refusal(vendor: str, request: Request) -> Answer | None:
    """The vendor's refusal, or None. The caller has checked that the body is a chat request."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme != "Bearer" or not key:
        return error(401)
    for check in VENDORS[vendor]:
        if message := check(request.json):
            return error(400, message)
    return None
