/** The body of `POST /link/:filename`. */
export interface LinkRequest {
  /** What the link is for. Default: to download. */
  readonly verb?: 'download' | 'upload'
  /** How long the link is valid, in seconds. */
  readonly expiresIn?: number
  /** For links to download: whether a browser is to show the content. */
  readonly inline?: boolean
  /** For links to upload, as all that follow: whether the name in the path is a prefix of the files' names. */
  readonly prefix?: boolean
  /** With `prefix`: how many files with this prefix there may be. */
  readonly maxFiles?: number
  /** The size of the largest file, in bytes. */
  readonly maxSize?: number
  /** Whether uploads may replace files. */
  readonly replace?: boolean
}

/** JSON Schema of {@link LinkRequest}. The build makes link-validator.ts of it. The longest time is a setting, and checked elsewhere. */
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
