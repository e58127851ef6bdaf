/** How many tests and checks came out well, and how many did not. */
export interface Tally {
  passed: number
  failed: number
  /** What did not, a line each; nothing where the number says it all. */
  failures?: readonly string[]
}
