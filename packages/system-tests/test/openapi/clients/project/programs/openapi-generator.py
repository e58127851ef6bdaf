"""What a program does with the Python client that openapi-generator generates."""

import json
import sys

from openapi_client import ApiClient, Configuration, FilesApi, UploadsApi
from openapi_client.exceptions import ApiException

base_url, name, form_name = sys.argv[1:]
content = bytes(range(256))


def client_of(password):
    keys = {"name": "demo", "password": password}
    return ApiClient(Configuration(host=base_url, api_key=keys))


def message_of(operation):
    try:
        operation()
    except ApiException as error:
        # A choice of errors is wrapped.
        problem = getattr(error.data, "actual_instance", error.data)
        return problem.message


client = client_of("correct horse")
files, uploads = FilesApi(client), UploadsApi(client)
result = {
    "uploaded": uploads.upload_file(name, body=content),
    "uploadedForm": uploads.upload_form((form_name, content)),
    "names": [entry.actual_instance for entry in files.list_files(limit=10)],
    "sizes": [entry.actual_instance.size for entry in files.list_files(details=1)],
    "content": bytes(files.serve_file(name)).hex(),
    "part": bytes(files.serve_file(name, range="bytes=254-")).hex(),
    "taken": message_of(lambda: uploads.upload_file(name, if_none_match="*", body=content)),
    "deleted": files.delete_file(name),
    "missing": message_of(lambda: files.serve_file(name)),
    "refused": message_of(lambda: FilesApi(client_of("wrong")).list_files()),
}
print(json.dumps(result))
