import mocha from 'mocha'

/** Mocha's spec reporter, with the one line at the end that a person or a CI job looks for. */
export class HoldfastReporter extends mocha.reporters.Spec {
  epilogue() {
    super.epilogue()
    console.log(`${this.stats.passes} passed, ${this.stats.failures} failed`)
  }
}

// Mocha takes a reporter module's default export.
// eslint-disable-next-line no-restricted-syntax
export default HoldfastReporter
