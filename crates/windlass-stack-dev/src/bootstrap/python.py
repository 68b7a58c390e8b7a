# Asks the runtime API for events and hands them to one handler, one at a time.
# Ends when the runtime API does: then nobody is left to work for.
import http.client
import importlib.util
import json
import os
import sys
import time
import traceback

BASE = "/2018-06-01/runtime"
connection = http.client.HTTPConnection(os.environ["AWS_LAMBDA_RUNTIME_API"])


def ask(method, target, body=None):
    headers = {"Content-Type": "application/json"} if body is not None else {}
    connection.request(method, BASE + target, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def described(error):
    frames = traceback.format_tb(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename:
        # No frame is in a file that could not be read.
        frames.append('  File "%s", line %d\n' % (error.filename, error.lineno or 1))
    return json.dumps({
        "errorType": type(error).__name__,
        "errorMessage": str(error),
        "stackTrace": frames,
    }).encode()


def load():
    root = os.environ["LAMBDA_TASK_ROOT"]
    file, _, name = os.environ["_HANDLER"].rpartition(".")
    path = os.path.join(root, file if file.endswith(".py") else file + ".py")
    folder = os.path.dirname(path)
    for entry in (root, folder):
        if entry not in sys.path:
            sys.path.insert(0, entry)
    # Named as a package path, so that relative imports and pickles work as when deployed.
    module_name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or not os.path.isfile(path):
        raise FileNotFoundError("the handler's file %s is not there" % path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    for candidate in (["handler", "default"] if name == "default" else [name]):
        found = getattr(module, candidate, None)
        if callable(found):
            return found
    raise AttributeError("%s has no function named %s" % (path, "handler" if name == "default" else name))


class Context:
    def __init__(self, headers):
        self.aws_request_id = headers["Lambda-Runtime-Aws-Request-Id"]
        self.invoked_function_arn = headers["Lambda-Runtime-Invoked-Function-Arn"]
        self.function_name = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
        self.function_version = os.environ["AWS_LAMBDA_FUNCTION_VERSION"]
        self.memory_limit_in_mb = os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]
        self.log_group_name = os.environ.get("AWS_LAMBDA_LOG_GROUP_NAME", "")
        self.log_stream_name = os.environ.get("AWS_LAMBDA_LOG_STREAM_NAME", "")
        self.client_context = None
        self.identity = None
        self._deadline = int(headers["Lambda-Runtime-Deadline-Ms"])

    def get_remaining_time_in_millis(self):
        return max(0, self._deadline - int(time.time() * 1000))


def main():
    try:
        handler = load()
    except BaseException as error:
        traceback.print_exc()
        try:
            ask("POST", "/init/error", described(error))
        except OSError:
            pass
        sys.exit(1)
    while True:
        try:
            status, headers, body = ask("GET", "/invocation/next")
        except (OSError, http.client.HTTPException):
            sys.exit(0)
        if status != 200:
            sys.exit(0)
        identifier = headers["Lambda-Runtime-Aws-Request-Id"]
        if headers.get("Lambda-Runtime-Trace-Id"):
            os.environ["_X_AMZN_TRACE_ID"] = headers["Lambda-Runtime-Trace-Id"]
        try:
            result = json.dumps(handler(json.loads(body), Context(headers))).encode()
            outcome = "response"
        except Exception as error:
            traceback.print_exc()
            result = described(error)
            outcome = "error"
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            ask("POST", "/invocation/%s/%s" % (identifier, outcome), result)
        except (OSError, http.client.HTTPException):
            sys.exit(0)


main()
