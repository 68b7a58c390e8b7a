# Runs a directive of a project and answers with JSON on stdout, behind a mark.
# What the project itself prints goes to stderr.
import importlib.util
import json
import os
import sys

MARK = "\x1ewindlass:"
request = json.load(sys.stdin)
out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def answer(value):
    out.write(MARK + json.dumps(value))
    out.flush()


try:
    sys.path.insert(0, os.path.dirname(request["file"]))
    spec = importlib.util.spec_from_file_location("directive", request["file"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, request["function"] or request["name"], None)
    if not callable(function):
        raise ValueError("the file has no such function")
    answer({"ok": True, "value": function(*request["arguments"])})
except Exception as error:
    answer({"ok": False, "code": None, "message": f"{type(error).__name__}: {error}"})
    sys.exit(1)
