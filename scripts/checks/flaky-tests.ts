/** A test file that a run has named as flaky: it failed and then passed, alone and unchanged. */
export interface FlakyTest {
  readonly file: string
  /** When a run named it, as YYYY-MM-DD. */
  readonly since: string
  /** The test, and what it said. */
  readonly symptom: string
}

/** Defects of tests, or of what they test, to be mended before the next feature. `scripts/test --flaky` shows which are gone. */
export const flakyTests: readonly FlakyTest[] = []
