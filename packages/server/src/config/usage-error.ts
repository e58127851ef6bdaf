/** Something that the person at the command line can mend. The message says what is wrong and what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
