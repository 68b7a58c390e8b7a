"""Receives webhooks of a Windlass server and verifies them with the standardwebhooks library.

Started by `cargo xtask test`; prints one line per check and exits with a traceback on the first
delivery that is not as expected.
"""

import argparse
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import queue
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request

from standardwebhooks import Webhook, WebhookVerificationError

SPEC = (
    "Knots is a shop for sailors. Sailors can create, edit and delete their own listings. "
    "A listing has a title, a price and a status (draft, published)."
)
SETTINGS = """
[webhooks]
allow_http = true
allow_private_targets = true
retry_seconds = [0, 1, 1, 1]
"""
LIMIT = 60


class Receiver(http.server.BaseHTTPRequestHandler):
    """Answers with the next status of the script and keeps what arrived."""

    script: list[int] = []
    arrived: queue.Queue = queue.Queue()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        status = self.script.pop(0) if self.script else 204
        self.arrived.put((status, dict(self.headers), body))
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


class Server:
    """`windlass serve` with a home of its own."""

    def __init__(self, binary: str, home: pathlib.Path) -> None:
        self.binary = binary
        self.env = os.environ | {"WINDLASS_HOME": str(home)}
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.toml").write_text(SETTINGS)
        self.process = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0"],
            env=self.env,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        for line in self.process.stderr:
            found = re.search(r"http://\S+", line)
            if found:
                self.url = found.group()
                break
        else:
            raise RuntimeError("the server did not say where it listens")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def command(self, *arguments: str) -> dict:
        """Runs a command; the data it reports."""
        done = subprocess.run(
            [self.binary, "--json", *arguments],
            env=self.env,
            capture_output=True,
            text=True,
            check=True,
            timeout=LIMIT,
        )
        return json.loads(done.stdout)

    def call(self, path: str, key: str | None, body: dict | None = None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        if key:
            headers["authorization"] = f"Bearer {key}"
        url = path if path.startswith("http") else self.url + path
        request = urllib.request.Request(url, data, headers)
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            return answer.status, answer.read()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(LIMIT)


def field(value, name: str) -> str:
    """A field anywhere in nested data."""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            found = field(inner, name)
            if found is not None:
                return found
    return None


def contract_signature(secret: str, timestamp: str, body: bytes) -> str:
    mac = hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256)
    return "sha256=" + mac.hexdigest()


def verifies(secret: str, headers: dict, body: bytes) -> bool:
    try:
        Webhook(secret).verify(body, {name.lower(): value for name, value in headers.items()})
    except WebhookVerificationError:
        return False
    return True


def deliver(server: Server, key: str, hook: str, script: list[int]) -> list:
    """Begins a job and waits for the delivery of its end; every attempt."""
    Receiver.script = list(script)
    status, answer = server.call(
        "/v1/pipelines", key, {"spec": SPEC, "phases": ["strategy"], "webhook_url": hook}
    )
    assert status == 202, status
    attempts = [Receiver.arrived.get(timeout=LIMIT) for _ in range(len(script) + 1)]
    body = json.loads(attempts[-1][2])
    assert body["job_id"] == json.loads(answer)["job_id"], body
    assert body["event"] == body["type"] == "pipeline.completed", body
    return attempts


def header(attempt, name: str) -> str:
    return {key.lower(): value for key, value in attempt[1].items()}[name]


def check_late(server: Server, key: str, secret: str, hook: str) -> None:
    attempts = deliver(server, key, hook, [503, 503])
    assert len({header(attempt, "webhook-id") for attempt in attempts}) == 1
    assert header(attempts[0], "webhook-id").startswith("msg_")
    assert len({attempt[2] for attempt in attempts}) == 1, "the body stays the same"
    for attempt in attempts:
        _, headers, body = attempt
        assert verifies(secret, headers, body), headers
        timestamp = header(attempt, "x-aios-timestamp")
        assert timestamp == header(attempt, "webhook-timestamp")
        assert abs(time.time() - int(timestamp)) < 60, "the timestamp is fresh"
        assert header(attempt, "x-aios-signature") == contract_signature(secret, timestamp, body)
        assert header(attempt, "user-agent").startswith("Windlass/")
        assert not verifies(secret, headers, body + b" "), "another body does not verify"
    first, last = (int(header(attempt, "webhook-timestamp")) for attempt in (attempts[0], attempts[-1]))
    assert last > first, "a later attempt has a signature of its own"
    print(f"down at first: {len(attempts)} attempts, one id, every signature good")
    body = json.loads(attempts[-1][2])
    artifact = body["artifact_urls"]["strategy"]
    status, content = server.call(artifact, None)
    assert status == 200 and json.loads(content)["requirements"], artifact
    try:
        server.call(artifact[:-1] + ("0" if artifact[-1] != "0" else "1"), None)
        raise AssertionError("an altered address works")
    except urllib.error.HTTPError as error:
        assert error.code == 401, error.code
    print("the artifact's address works without a key, an altered one does not")


def check_rotation(server: Server, key: str, key_id: str, old: str, hook: str) -> None:
    new = field(server.command("webhooks", "secret", "rotate", "--key", key_id), "webhook_secret")
    assert new != old
    attempt = deliver(server, key, hook, [])[0]
    _, headers, body = attempt
    assert verifies(old, headers, body) and verifies(new, headers, body)
    signatures = header(attempt, "webhook-signature").split(" ")
    assert len(signatures) == 2, signatures
    timestamp = header(attempt, "x-aios-timestamp")
    assert header(attempt, "x-aios-signature") == contract_signature(old, timestamp, body)
    server.command("webhooks", "secret", "finish", "--key", key_id)
    attempt = deliver(server, key, hook, [])[0]
    _, headers, body = attempt
    assert verifies(new, headers, body) and not verifies(old, headers, body)
    timestamp = header(attempt, "x-aios-timestamp")
    assert header(attempt, "x-aios-signature") == contract_signature(new, timestamp, body)
    print("rotated: both secrets verify during the overlap, the new one alone afterwards")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--home", required=True, type=pathlib.Path)
    options = parser.parse_args()
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    hook = f"http://127.0.0.1:{receiver.server_port}/hook"
    server = Server(options.binary, options.home)
    try:
        made = server.command("keys", "create", "shop", "--scope", "pipeline")
        key, secret = field(made, "api_key"), field(made, "webhook_secret")
        check_late(server, key, secret, hook)
        check_rotation(server, key, field(made, "key_id"), secret, hook)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
