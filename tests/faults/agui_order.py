"""The order rules of the verifier in the stock AG-UI clients, applied to the frames that a client saw."""

import json

_OPENS = {"TEXT_MESSAGE_START": ("text", "messageId"), "TOOL_CALL_START": ("call", "toolCallId"),
          "REASONING_START": ("reasoning span", "messageId"), "REASONING_MESSAGE_START": ("reasoning", "messageId"),
          "STEP_STARTED": ("step", "stepName")}
_NEEDS = {"TEXT_MESSAGE_CONTENT": ("text", "messageId"), "TOOL_CALL_ARGS": ("call", "toolCallId"),
          "REASONING_MESSAGE_CONTENT": ("reasoning", "messageId")}
_CLOSES = {"TEXT_MESSAGE_END": ("text", "messageId"), "TOOL_CALL_END": ("call", "toolCallId"),
           "REASONING_END": ("reasoning span", "messageId"), "REASONING_MESSAGE_END": ("reasoning", "messageId"),
           "STEP_FINISHED": ("step", "stepName")}


def order_violations(frames: list[tuple[str, str, str]]) -> list[str]:
    """What a stock client would refuse in the frames of one whole run."""
    found, open_things, ended = [], set(), None
    paused = False  # At an interrupt, behind which the run goes on under another id (AGUI-4).
    for at, (ident, event, data) in enumerate(frames):
        body = json.loads(data)
        if paused and event == "RUN_STARTED":
            paused, ended = False, None
            continue
        if ended:
            found.append(f"{event} at {ident} after {ended}")
        if at == 0 and event not in ("RUN_STARTED", "RUN_ERROR"):
            found.append(f"begins with {event}")
        if at > 0 and event == "RUN_STARTED":
            found.append(f"RUN_STARTED again at {ident}")
        if event in _OPENS:
            thing = (_OPENS[event][0], body[_OPENS[event][1]])
            if thing in open_things:
                found.append(f"{event} at {ident}: {thing} is already open")
            open_things.add(thing)
        elif event in _NEEDS or event in _CLOSES:
            kind, key = _NEEDS.get(event) or _CLOSES[event]
            if (kind, body[key]) not in open_things:
                found.append(f"{event} at {ident}: no open {kind} {body[key]}")
            if event in _CLOSES:
                open_things.discard((kind, body[key]))
        elif event in ("RUN_FINISHED", "RUN_ERROR"):
            if event == "RUN_FINISHED" and open_things:
                found.append(f"RUN_FINISHED at {ident} with {sorted(open_things)} open")
            ended = event
            paused = (body.get("outcome") or {}).get("type") == "interrupt"
    return found
