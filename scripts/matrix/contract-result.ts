/** What came of one test of the contract suites on one store. */
export interface ContractResult {
  /** What the suite was given as the store's name: the title's part before ` as a BlobStore` and the like. */
  suite: string
  /** The suite's group, such as `round trip`, or `renaming: at once`, or `uploads in pieces: appending`. */
  group: string
  test: string
  passed: boolean
}
