"""Serves the S3 of moto on 127.0.0.1 and the port that is given.

One request at a time, unlike moto's own command: there, of two threads that replace an object, one closes the content of which
the other still computes the ETag, and that one answers 500.
"""

import logging
import sys

from moto.moto_server.werkzeug_app import create_backend_app
from waitress import serve

GiB = 1024**3
# Without the dispatcher of all of AWS, which reads a directory for each request: half of the time.
s3 = create_backend_app("s3")


def with_raw_uri(environ, start_response):
    # The name under which moto looks for the path before it is decoded.
    environ["RAW_URI"] = environ["REQUEST_URI"]
    return s3(environ, start_response)


# Requests that wait are what is meant here.
logging.getLogger("waitress.queue").setLevel(logging.ERROR)
# What an answer cannot send yet is kept, so that a slow client does not hold the one thread.
serve(
    with_raw_uri,
    host="127.0.0.1",
    port=int(sys.argv[1]),
    threads=1,
    connection_limit=1000,
    outbuf_high_watermark=GiB,
    max_request_body_size=GiB,
)
