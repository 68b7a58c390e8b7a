"""A scripted MCP server over HTTP. The port is the argument; 0 chooses one and prints it."""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(405, b"")

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "id" not in message:
            return self.reply(202, b"")
        method, params = message["method"], message.get("params", {})
        if method == "initialize":
            result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "far", "version": "2"}}
        elif method == "tools/list":
            schema = {"type": "object"}
            result = {"tools": [{"name": "echo", "description": "Says it back.", "inputSchema": schema}]}
        elif method == "tools/call":
            words = params["arguments"].get("text", "") + "/" + (self.headers["x-key"] or "")
            result = {"content": [{"type": "text", "text": words}]}
        else:
            return self.reply(404, b"<html>no</html>", "text/html")
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode())

    def reply(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
