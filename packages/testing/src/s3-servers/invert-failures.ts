import type { KnownFailure } from './known-failures.ts'

/** What stands before the title of a test that must fail. */
const knownFailureMark = 'fails as known: '

/**
 * Has the tests of `suite` that `failures` name pass where they fail in the way that is known, and fail where they pass.
 *
 * @throws Error for a title that no test has, or that two entries have
 */
export function invertFailures(suite: Mocha.Suite, failures: readonly KnownFailure[]): void {
  const depth = suite.titlePath().length
  const known = new Map<string, KnownFailure>()
  for (const failure of failures) {
    for (const title of failure.tests) {
      if (known.has(title)) throw new Error(`Known to fail twice: ${title}`)
      known.set(title, failure)
    }
  }
  suite.eachTest((test) => {
    const title = test.titlePath().slice(depth).join(' > ')
    const failure = known.get(title)
    if (!failure) return
    known.delete(title)
    invert(test, failure)
  })
  const [missing] = known.keys()
  if (missing !== undefined) throw new Error(`Known to fail, but no test: ${missing}`)
}

function invert(test: Mocha.Test, { cannot, error: expected }: KnownFailure): void {
  const run: ((this: Mocha.Context, done: Mocha.Done) => unknown) | undefined = test.fn
  test.title = knownFailureMark + test.title
  test.fn = async function (this: Mocha.Context) {
    const failure = await attempt(() => run?.call(this, () => {}))
    if (!failure) throw new Error(`Passes, although this is known of the server: ${cannot}`)
    if (expected.test(failure.text)) return
    throw new Error(`Fails otherwise than is known (${expected}): ${failure.text}`)
  }
}

async function attempt(run: () => unknown): Promise<{ readonly text: string } | undefined> {
  try {
    await run()
    return undefined
  } catch (error) {
    return { text: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
  }
}
