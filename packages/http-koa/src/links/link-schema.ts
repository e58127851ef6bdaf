/** What the body of `POST /link/:filename` may be. */
export interface LinkRequest {
  /** What the link is for. Default: to download. */
  readonly verb?: 'download' | 'upload'
  /** Seconds for which the link is good. */
  readonly expiresIn?: number
  /** To download only: whether a browser is to show the content. */
  readonly inline?: boolean
  /** This and the others are to upload only: whether the name in the path is what names begin with. */
  readonly prefix?: boolean
  /** With `prefix`: how many files there may be whose names begin so. */
  readonly maxFiles?: number
  /** Bytes of the largest file. */
  readonly maxSize?: number
  /** Whether uploads may replace files. */
  readonly replace?: boolean
}

/** JSON Schema of {@link LinkRequest}; the longest time is a setting. */
export const linkSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    verb: { enum: ['download', 'upload'] },
    expiresIn: { type: 'integer', minimum: 1 },
    inline: { type: 'boolean' },
    prefix: { type: 'boolean' },
    maxFiles: { type: 'integer', minimum: 1, maximum: 10_000 },
    maxSize: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
    replace: { type: 'boolean' },
  },
}
