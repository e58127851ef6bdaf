"""Does the job in argv[1], a JSON object, with the file argv[2], by tuspy. Prints the outcome as JSON."""

import json
import sys

from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError

job = json.loads(sys.argv[1])
outcome = {"url": job.get("url", "")}
try:
    uploader = TusClient(job["endpoint"], headers=job["headers"]).uploader(
        sys.argv[2],
        metadata={"filename": job["name"]},
        url=job.get("url"),
        chunk_size=job.get("pieceSize", sys.maxsize),
        retries=200,
        retry_delay=0.1,
    )
    stop_at = job.get("interruption", {}).get("at")
    uploader.upload(stop_at=stop_at)
    outcome = {"ending": "stopped" if stop_at else "stored", "url": uploader.url}
except TusCommunicationError as error:
    body = (error.response_content or b"").decode()
    outcome |= {"ending": "failed", "status": error.status_code, "message": body}
print(json.dumps(outcome))
