"""What a program does with the client that openapi-python-client generates."""

import io
import json
import sys

from holdfast_client import Client
from holdfast_client.api.files import delete_file, list_files, serve_file
from holdfast_client.api.uploads import upload_file, upload_form
from holdfast_client.models import Problem, UploadFileIfNoneMatch, UploadFormBody
from holdfast_client.types import File

base_url, name, form_name = sys.argv[1:]
content = bytes(range(256))


def client_of(password):
    headers = {"x-auth-name": "demo", "x-auth-password": password}
    return Client(base_url=base_url, headers=headers)


def message_of(problem):
    assert isinstance(problem, Problem)
    return problem.message


def file(name=None):
    return File(payload=io.BytesIO(content), file_name=name)


client = client_of("correct horse")
result = {
    "uploaded": upload_file.sync(name, client=client, body=file()),
    "uploadedForm": upload_form.sync(client=client, body=UploadFormBody(file=file(form_name))),
    "names": list_files.sync(client=client, limit=10),
    "sizes": [entry.size for entry in list_files.sync(client=client, details=1)],
    "content": serve_file.sync(name, client=client).payload.read().hex(),
    "part": serve_file.sync(name, client=client, range_="bytes=254-").payload.read().hex(),
    "taken": message_of(
        upload_file.sync(
            name, client=client, body=file(), if_none_match=UploadFileIfNoneMatch("*")
        )
    ),
    "deleted": delete_file.sync(name, client=client),
    "missing": message_of(serve_file.sync(name, client=client)),
    "refused": message_of(list_files.sync(client=client_of("wrong"))),
}
print(json.dumps(result))
