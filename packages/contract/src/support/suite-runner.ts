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
