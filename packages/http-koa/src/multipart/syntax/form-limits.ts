/** What a form may hold besides its file. */
export const formLimits = {
  /** Bytes of one text field. */
  fieldSize: 64 * 1024,
  fields: 100,
  /** Parts of a form with one file. */
  parts: 1000,
  /** Header lines of a part. */
  partHeaders: 1000,
  /** Files of a batch. */
  batchFiles: 10_000,
} as const
