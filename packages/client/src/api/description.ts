// Written by scripts/write-client-api.ts from docs/openapi.yaml; edit that.

/** What `HEAD /serve/{filename}` says of the file. */
export interface FileDetails {
  readonly name: string
  /** In bytes. */
  readonly size: number
  /** When the file was stored, in UTC. `Last-Modified` is the same in whole seconds. */
  readonly modified: string
  /** The `Content-Type` that the file is served with. */
  readonly type: string
  /** The file's `ETag`, with its quotes, as `If-Match` and `If-None-Match` take it. */
  readonly etag: string
  /** In lists: when the file is deleted, within an hour or so, unless it is changed before. Left out where files do not expire. */
  readonly expires?: string
}

/** An earlier version of a file. */
export interface FileVersion {
  readonly name: string
  /** Names it among all versions of its name. */
  readonly version: string
  /** In bytes. */
  readonly size: number
  /** When it was stored, in UTC. */
  readonly modified: string
  /** When it was replaced or deleted, in UTC. */
  readonly replaced: string
  /** The `Content-Type` that it is served with. */
  readonly type: string
}

/** The last version of a deleted file. */
export interface DeletedFile {
  readonly name: string
  /** Names it among all versions of its name. */
  readonly version: string
  /** In bytes. */
  readonly size: number
  /** When it was stored, in UTC. */
  readonly modified: string
  /** When it was deleted, in UTC. */
  readonly deleted: string
  /** The `Content-Type` that it is served with. */
  readonly type: string
}

/** What a link is to be. An empty body is the same as `{}`. */
export interface LinkRequest {
  /** What the link is for; `download` without it. */
  readonly verb?: 'download' | 'upload'
  /** For how many seconds it is good. Without it, 3600, or the most that the server allows, if that is less. */
  readonly expiresIn?: number
  /** Whether a browser is to show the content instead of saving it: pictures, audio, video, plain text and PDF. Nothing that could run scripts is shown. */
  readonly inline?: boolean
  /** This and what follows is for links to upload. Whether the name in the path is what names begin with. Without it, the link is for this one name. */
  readonly prefix?: boolean
  /** With `prefix` only: how many files there may be whose names begin so, whoever has stored them; from then on the link stores none. Without it, 100. */
  readonly maxFiles?: number
  /** Bytes of the largest file. Without it, as much as the server and the quota allow. */
  readonly maxSize?: number
  /** Whether uploads may replace files. Without it they only create. */
  readonly replace?: boolean
}

/** A link that opens a file, or takes one, without a password. */
export interface Link {
  /** By the `Host` of the request, or what a trusted proxy says of it. */
  readonly url: string
  /** When it is good no more, in UTC. */
  readonly expires: string
}

/** What a customer keeps. `quota` and `maxFiles` are left out where there is no limit. */
export interface Usage {
  /** How many files. */
  readonly files: number
  /** The sum of their sizes. */
  readonly bytes: number
  /** The most bytes. */
  readonly quota?: number
  /** The most files. */
  readonly maxFiles?: number
  /** By which further login of the customer the request came. */
  readonly login?: string
  /** What that login may do. Left out where it may do everything. */
  readonly may?: readonly ('list' | 'read' | 'create' | 'replace' | 'delete' | 'link')[]
  /** Uploads in pieces that are not complete yet, and the bytes that have arrived of them. */
  readonly unfinished: {
    readonly uploads: number
    readonly bytes: number
  }
  /** Earlier versions and deleted files, which do not count in the quota. Left out where the customer's are not kept. */
  readonly kept?: {
    readonly versions: number
    readonly bytes: number
  }
}

/** The errors of the API: their status, and what their messages match. */
export const problems = {
  'missing-credentials': { status: 400, message: '^(No auth headers$)' },
  'invalid-credentials': { status: 400, message: '^(Invalid credentials$)' },
  'too-many-attempts': { status: 429, message: '^(Too many failed logins$)' },
  'link-refused': { status: 403, message: '^(The link is wrong, or has expired$)' },
  'not-allowed': { status: 403, message: '^Not allowed: missing rights? [a-z]+(, [a-z]+)*$' },
  overloaded: { status: 503, message: '^(Overloaded$)' },
  'store-unavailable': { status: 503, message: '^(Storage unavailable$)' },
  'insufficient-storage': { status: 507, message: '^(Insufficient storage$)' },
  unexpected: { status: 500, message: '^(An unexpected error occurred$)' },
  'no-file-name': {
    status: 400,
    message:
      '^(No filename\\. Use /serve/<filename>$|No filename\\. Use /delete/<filename>$|No filename\\. Use /rename/<filename>$|No filename\\. Use /versions/<filename>$|No filename\\. Use /restore/<filename>$|No filename\\. Use /upload/<filename>$|No filename\\. Use Upload-Metadata: filename <base64>$)',
  },
  'invalid-file-name': { status: 400, message: '^(Invalid filename: )' },
  'not-found': { status: 400, message: '^(File not found$)' },
  'version-not-found': { status: 404, message: '^(Version not found$)' },
  'unknown-file': { status: 404, message: '^(File not found$)' },
  'no-files-yet': { status: 400, message: '^(No files uploaded yet$)' },
  'invalid-query': {
    status: 400,
    message:
      '^(Invalid limit: |Invalid after: |Invalid prefix: |Invalid details: |Invalid version: |Invalid before: |Invalid largest: )',
  },
  'invalid-header': {
    status: 400,
    message:
      '^(Invalid if-none-match: |Invalid if-match: |Invalid if-unmodified-since: |Invalid content-range: |Invalid upload-complete: |Invalid upload-incomplete: |Invalid Content-Digest: |Invalid upload-length: |Invalid upload-defer-length: |Invalid upload-offset: |Invalid upload-metadata: |Invalid upload-checksum: |Invalid upload-concat: )',
  },
  'invalid-field': {
    status: 400,
    message:
      '^Invalid (sha256|verb|expiresIn|inline|prefix|maxFiles|maxSize|replace|to|version|as|createOnly|body):.',
  },
  'no-file': { status: 400, message: '^(No file$)' },
  'more-than-one-file': { status: 400, message: '^(More than one file$)' },
  'malformed-multipart': {
    status: 400,
    message:
      '^(Malformed multipart body$|Malformed multipart body: Content-Transfer-Encoding must be binary, 8bit or 7bit$|Malformed multipart body: the boundary in the content type must be in quotes$)',
  },
  'truncated-body': { status: 400, message: '^(Truncated body$|The upload was discarded$)' },
  'digest-mismatch': { status: 400, message: '^(Digest mismatch$)' },
  'already-exists': { status: 412, message: '^(Precondition Failed$)' },
  'upload-not-found': { status: 404, message: '^(Upload not found$)' },
  'upload-conflict': { status: 409, message: '^(Upload conflict$)' },
  'checksum-mismatch': { status: 460, message: '^(Checksum mismatch$)' },
  'unknown-content-type': {
    status: 415,
    message: '^(Content-Type must be application/offset\\+octet-stream$)',
  },
  'unknown-tus-version': { status: 412, message: '^(Tus-Resumable must be 1\\.0\\.0$)' },
  'precondition-failed': { status: 412, message: '^(Precondition Failed$)' },
  'file-too-large': { status: 413, message: '^(File too large$)' },
  'quota-exceeded': { status: 413, message: '^Quota exceeded($|: .)' },
  'field-too-large': { status: 413, message: '^(A text field of the form exceeds 65536 bytes$)' },
  'too-many-fields': { status: 413, message: '^(More than 100 text fields in the form$)' },
  'too-many-parts': { status: 413, message: '^(More than 1000 parts in the form$)' },
  'too-many-files': { status: 413, message: '^(More than 10000 files in the form$)' },
  'too-many-names': { status: 413, message: '^(More than 10000 names in the body$)' },
  'body-too-large': { status: 413, message: '^(The body exceeds 4194304 bytes$)' },
  'range-not-satisfiable': { status: 416, message: '^(Range not satisfiable$)' },
  'unknown-path': { status: 404, message: '^(Not Found$|Not Found: the name of a file has no /$)' },
  'method-not-allowed': { status: 405, message: '^Method not allowed(. Use [A-Z]+(, [A-Z]+)*)?$' },
  'malformed-request': {
    status: 400,
    message:
      '^(Malformed request$|Exactly one Host header is required$|Invalid Host header$|Invalid request target: )',
  },
  'unknown-transfer-coding': {
    status: 501,
    message: '^(The only supported transfer coding is chunked$)',
  },
  'unknown-http-version': {
    status: 505,
    message: '^(The only supported versions of HTTP are 1\\.0 and 1\\.1$)',
  },
  'needs-tls': {
    status: 400,
    message: '^(This port speaks HTTPS only: write https:// in the address$)',
  },
  'too-slow': {
    status: 408,
    message: '^(The client was idle for too long$|The request did not arrive in time$)',
  },
  'chunk-extensions-too-large': { status: 413, message: '^(The chunk extensions are too large$)' },
  'unknown-expectation': {
    status: 417,
    message: '^(The only supported expectation is 100-continue$)',
  },
  'headers-too-large': { status: 431, message: '^(The headers are too large$)' },
} as const satisfies Readonly<Record<string, { readonly status: number; readonly message: string }>>

/** The name of an error's schema in the description. */
export type ProblemCode = keyof typeof problems
