/** What the body of `POST /link/:filename` may be. */
export interface LinkRequest {
  /** Seconds for which the link is good. */
  readonly expiresIn?: number
  /** Whether a browser is to show the content. */
  readonly inline?: boolean
}

/** JSON Schema of {@link LinkRequest}; the longest time is a setting. */
export const linkSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    expiresIn: { type: 'integer', minimum: 1 },
    inline: { type: 'boolean' },
  },
}
