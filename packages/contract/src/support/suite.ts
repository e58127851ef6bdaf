import type { BlobStore } from '@holdfast/core'

/** A store made for one test, with access to it that the port does not give. */
export interface BlobStoreHarness {
  /** The store, empty. */
  readonly store: BlobStore
  /**
   * Opens the same data again while `store` is in use, as a second server would. For a store that lives in one process only, returns
   * `store` itself.
   */
  readonly openAgain: () => Promise<BlobStore>
  /**
   * Opens the data as the next process does after the process of `store` has crashed: running work of `store` must not continue. Left out
   * if a test cannot do that within its own process.
   */
  readonly openAfterCrash?: () => Promise<BlobStore>
  /**
   * Names of everything that the store keeps beside published blobs, such as temporary files and unfinished uploads, for the failure
   * message. Leaves out what stays for good, such as a version marker.
   */
  readonly litter: () => Promise<readonly string[]>
  /** How many resources (descriptors, connections) opened blobs hold now. */
  readonly heldResources: () => Promise<number>
  /** Removes everything, also after a failed test. */
  readonly dispose: () => Promise<void>
}

/** Declares one test, which gets its own harness. */
export type BlobStoreTest = (
  fact: string,
  body: (harness: BlobStoreHarness) => Promise<void>,
) => void

/** The two functions that the suites need from a test framework: mocha, vitest and node:test all have them. */
export interface SuiteRunner {
  describe(name: string, body: () => void): void
  it(name: string, body: () => Promise<void>): void
}

export interface SuiteOptions {
  /** Default: the globals `describe` and `it`. */
  readonly runner?: SuiteRunner
}

/** The runner made of the globals `describe` and `it`; throws if there are none. */
export function globalRunner(): SuiteRunner {
  return {
    describe: (name, body) => globalFunction('describe')(name, body),
    it: (name, body) => globalFunction('it')(name, body),
  }
}

/** Calls `use` with what `open` makes for one test, and disposes of it, also after a failure. */
export async function withHarness<Harness extends { readonly dispose: () => Promise<void> }>(
  open: () => Promise<Harness>,
  use: (harness: Harness) => Promise<void> | void,
): Promise<void> {
  const harness = await open()
  try {
    await use(harness)
  } finally {
    await harness.dispose()
  }
}

/**
 * The first and the last of those that share something, as several processes do; they are the same where there is only one.
 * @throws TypeError if there is none
 */
export function firstAndLast<One>(all: readonly One[]): {
  readonly first: One
  readonly last: One
} {
  const [first] = all
  const last = all.at(-1)
  if (first === undefined || last === undefined) throw new TypeError('There are none to test')
  return { first, last }
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
