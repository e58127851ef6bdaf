/** What came of one test of the contract suite on one store. */
export interface ContractResult {
  /** What the suite was given as the store's name: the title's part before ` as a BlobStore`. */
  suite: string
  /** The suite's group, such as `round trip`. */
  group: string
  test: string
  passed: boolean
}
