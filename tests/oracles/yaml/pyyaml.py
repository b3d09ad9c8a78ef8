"""PyYAML's answers for the crate `yaml`, as data.

    python3 pyyaml.py record ../../../yaml/tests/data   write the recorded corpus, from the texts the Go program recorded
    python3 pyyaml.py documents < documents.jsonl       how documents (of the Go program's recordings) are read
    python3 pyyaml.py dump < values.jsonl               how values are written

PyYAML 6.0.3, pure Python loader and dumper.
"""

import datetime
import json
import math
import sys

import yaml


def key_text(key):
    """A key as text, the way the crate has it."""
    if key is None:
        return "null"
    if key is True or key is False:
        return str(key).lower()
    if isinstance(key, float):
        return yaml.safe_dump(key).split("\n")[0]
    if isinstance(key, (datetime.date, datetime.datetime)):
        return key.isoformat()
    if isinstance(key, bytes):
        return key.decode()
    return str(key)


def as_json(value):
    if isinstance(value, dict):
        return {key_text(key): as_json(member) for key, member in value.items()}
    if isinstance(value, set):
        return sorted(key_text(member) for member in value)
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float) and not math.isfinite(value):
        return "<%s>" % value
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return as_json(float(value))
    return value


def document(text):
    try:
        case = {"text": text, "json": as_json(yaml.safe_load(text))}
        # Python keeps halves of surrogate pairs, which are no text.
        json.dumps(case, ensure_ascii=False).encode()
        return case
    except yaml.YAMLError as error:
        return {"text": text, "error": type(error).__name__, "message": str(error)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError, IndexError) as error:
        return {"text": text, "error": type(error).__name__}


def dump(value):
    return {"value": value, "text": yaml.safe_dump(value, default_flow_style=False)}


def lines(name):
    with open(name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def write(name, cases):
    with open(name, "w", encoding="utf-8") as file:
        for case in cases:
            file.write(json.dumps(case, ensure_ascii=False) + "\n")


def record(folder):
    dumps = []
    for case in lines(folder + "/strings.jsonl"):
        text = case["text"]
        dumps.append(dump({"k": text, "l": [[text]], text: 1}))
    write(folder + "/pyyaml-strings.jsonl", dumps)
    write(folder + "/pyyaml-structures.jsonl", [dump(case["value"]) for case in lines(folder + "/structures.jsonl")])
    write(folder + "/pyyaml-documents.jsonl", [document(case["text"]) for case in lines(folder + "/documents.jsonl")])


if __name__ == "__main__":
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command == "record":
        record(sys.argv[2])
    elif command == "documents":
        for line in sys.stdin:
            print(json.dumps(document(json.loads(line)["text"]), ensure_ascii=False))
    elif command == "dump":
        for line in sys.stdin:
            print(json.dumps(dump(json.loads(line)), ensure_ascii=False))
    else:
        print(__doc__)
