/** The server did what it must never do: what it was, and all that is known of the file in question. */
export class SoakViolation extends Error {
  override readonly name = 'SoakViolation'
}
