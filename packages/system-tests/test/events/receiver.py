"""
Receives events, verifies them by libraries of others, and prints each as a line of JSON before it answers. A line on standard input
says how to answer from then on: a status, or `lose` to break the connection off; it is confirmed. The first line printed is the port.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from cloudevents.core.v1.event import CloudEvent
from standardwebhooks import Webhook

webhook = Webhook(sys.argv[1])
answer = "204"


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        how = answer
        try:
            webhook.verify(body, headers)
            event = from_http_event(HTTPMessage(headers, body))
            assert isinstance(event, CloudEvent)
            assert event.get_id() == headers["webhook-id"]
            report = {
                "id": event.get_id(),
                "type": event.get_type(),
                "subject": event.get_subject(),
                "data": event.get_data(),
                "answer": how,
            }
        except Exception as error:
            report = {"error": repr(error)}
        print(json.dumps(report), flush=True)
        if how == "lose":
            self.close_connection = True
            self.connection.close()
            return
        self.send_response(int(how))
        if how != "204":
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (OSError, ValueError):
            # The sender was killed, or the connection was broken off above.
            pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Receiver)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
for line in sys.stdin:
    answer = line.strip()
    print(json.dumps({"answers": answer}), flush=True)
