/** How many tests and checks came out well, and how many did not. */
export interface Tally {
  passed: number
  failed: number
}
