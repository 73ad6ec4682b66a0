"""Makes inputs from the JSON Schema that a failed tool call carries, as a model would: nothing else is known."""


def inputs(schema: dict) -> list[dict]:
    """For each form that the schema has, an input with what is required, and one with everything that has an example."""
    return [value(form, optional) for form in schema.get("oneOf", [schema]) for optional in (False, True)]


def value(schema: dict, optional: bool):
    if schema.get("examples"):
        return schema["examples"][0]
    if "enum" in schema:
        return schema["enum"][0]
    if "oneOf" in schema:
        return value(schema["oneOf"][0], optional)
    kind = schema["type"]
    if kind == "object":
        return members(schema, optional)
    if kind == "array":
        return [value(schema["items"], optional)] * max(1, schema.get("minItems", 0))
    if kind == "integer":
        return schema.get("default", schema.get("minimum", 0))
    if kind == "boolean":
        return True
    return schema.get("default", "x" * max(1, schema.get("minLength", 0)))


def members(schema: dict, optional: bool) -> dict:
    required = schema.get("required", [])
    found = {name: value(member, optional) for name, member in schema["properties"].items()
             if name in required or (optional and is_told(member))}
    for name, member in schema["properties"].items():
        if len(found) >= schema.get("minProperties", 0):
            break
        found.setdefault(name, value(member, optional))
    return found


def is_told(schema: dict) -> bool:
    """Whether the schema says what a good value is."""
    return any(key in schema for key in ("examples", "enum", "default"))
