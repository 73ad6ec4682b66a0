#!/usr/bin/python3
"""The program of the custom module `units`.

It is started as `units.py MODULE METHOD --format=json` for each call. The input, which has been checked against the
method's schema, is its standard input. It prints one JSON document and ends.
"""

import json
import sys

METRES = {"m": 1.0, "km": 1000.0, "mile": 1609.344, "foot": 0.3048}


def convert(given: dict) -> dict:
    if given["value"] < 0:
        return {"ok": False, "error": {"code": "NEGATIVE_LENGTH", "message": "A length cannot be negative."}}
    converted = given["value"] * METRES[given["from"]] / METRES[given["to"]]
    return {"ok": True, "data": {"value": round(converted, 6), "unit": given["to"]}}


def main() -> int:
    module, method = sys.argv[1:3]
    answer = {"convert": convert}[method](json.load(sys.stdin))
    json.dump({"module": module, "method": method, **answer}, sys.stdout)
    return 0 if answer["ok"] else 1


if __name__ == "__main__":
    sys.exit(main())
