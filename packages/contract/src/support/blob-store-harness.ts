import type { BlobStore } from '@holdfast/core'

/** A store made for one test, with the windows into it that the port does not have. */
export interface BlobStoreHarness {
  /** The store, empty. */
  readonly store: BlobStore
  /**
   * Opens the same data once more while `store` is in use, as a second server would. A store that lives in one process
   * only gives `store` itself.
   */
  readonly openAgain: () => Promise<BlobStore>
  /**
   * Opens the data as the next process does after the one that has `store` has crashed: what `store` has under way goes on
   * no more. Left out where a test cannot do that within its own process.
   */
  readonly openAfterCrash?: () => Promise<BlobStore>
  /**
   * Everything the store keeps beyond published blobs, such as temporary files and unfinished uploads, as names for the
   * failure message. What stays for good, such as a version marker, is left out.
   */
  readonly litter: () => Promise<readonly string[]>
  /** How many resources (descriptors, connections) opened blobs hold now. */
  readonly heldResources: () => Promise<number>
  /** Removes everything, after a failed test too. */
  readonly dispose: () => Promise<void>
}

/** Declares one test, which gets a harness of its own. */
export type BlobStoreTest = (
  fact: string,
  body: (harness: BlobStoreHarness) => Promise<void>,
) => void

/** The two functions of a test framework that the suites need: mocha, vitest and node:test all have them. */
export interface SuiteRunner {
  describe(name: string, body: () => void): void
  it(name: string, body: () => Promise<void>): void
}

export interface SuiteOptions {
  /** Default: the globals `describe` and `it`. */
  readonly runner?: SuiteRunner
}

/** The runner made of the globals `describe` and `it`; throws where there are none. */
export function globalRunner(): SuiteRunner {
  return {
    describe: (name, body) => globalFunction('describe')(name, body),
    it: (name, body) => globalFunction('it')(name, body),
  }
}

type Declare = (name: string, body: () => unknown) => void

function globalFunction(name: string): Declare {
  const found: unknown = Reflect.get(globalThis, name)
  if (isDeclare(found)) return found
  throw new Error(`There is no global "${name}": give the suite a runner with describe and it`)
}

function isDeclare(value: unknown): value is Declare {
  return typeof value === 'function'
}
