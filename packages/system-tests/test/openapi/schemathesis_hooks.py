"""What schemathesis cannot know of the service."""

import schemathesis
from schemathesis.specs.openapi import checks

# By the specification a stranger is refused with 400, where others have 401; a wrong link with 403.
checks.AUTH_REJECTION_STATUSES = frozenset({400, 403})

# A piece of an upload, by tus, is bytes as any others.
schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
