# Visits counted in Redis: GET /visits/{page} reads, POST counts one more.
import json
import os
import socket
from urllib.parse import unquote, urlparse


class Redis:
    """As much of Redis's protocol as this sample needs, so that it runs without an install."""

    def __init__(self, address):
        parts = urlparse(address)
        self.stream = socket.create_connection((parts.hostname, parts.port)).makefile("rwb")
        self.ask("AUTH", unquote(parts.password))

    def ask(self, *words):
        encoded = [str(word).encode() for word in words]
        self.stream.write(b"*%d\r\n" % len(encoded))
        for word in encoded:
            self.stream.write(b"$%d\r\n%s\r\n" % (len(word), word))
        self.stream.flush()
        return self.answer()

    def answer(self):
        line = self.stream.readline()
        kind, rest = line[:1], line[1:].strip()
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            if int(rest) < 0:
                return None
            value = self.stream.read(int(rest))
            self.stream.read(2)
            return value.decode()
        return rest.decode()


redis = Redis(os.environ["STP_CACHE_CONNECTION_STRING"])


def handler(event, context):
    key = "visits:" + event["pathParameters"]["proxy"]
    if event["httpMethod"] == "POST":
        count = redis.ask("INCR", key)
        print("counted", key, flush=True)
    else:
        count = int(redis.ask("GET", key) or 0)
    return {
        "statusCode": 200,
        "headers": {"content-type": "application/json"},
        "body": json.dumps({"page": event["pathParameters"]["proxy"], "visits": count}),
    }
