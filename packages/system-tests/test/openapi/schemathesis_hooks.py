"""What schemathesis cannot know of the service."""

from schemathesis.specs.openapi import checks

# By the specification a stranger is refused with 400, where others have 401.
checks.AUTH_REJECTION_STATUSES = frozenset({400})
