import type { SuiteRunner } from '../src/support/suite.ts'

/** The tests of a suite by their titles. */
export type CollectedTests = ReadonlyMap<string, () => Promise<void>>

/** What `declare` declares, each test under the titles that lead to it, joined by ` > `, without the suite's own. */
export function collectTests(declare: (runner: SuiteRunner) => void): CollectedTests {
  const tests = new Map<string, () => Promise<void>>()
  const titles: string[] = []
  declare({
    describe(name, body) {
      titles.push(name)
      body()
      titles.pop()
    },
    it(name, body) {
      const title = [...titles.slice(1), name].join(' > ')
      if (tests.has(title)) throw new Error(`Two tests are called "${title}"`)
      tests.set(title, body)
    },
  })
  return tests
}

/** Runs the test called `title`. */
export async function run(tests: CollectedTests, title: string): Promise<void> {
  await testCalled(tests, title)()
}

/** What the test called `title` throws; `undefined` if it passes. */
export async function failureOf(tests: CollectedTests, title: string): Promise<unknown> {
  return testCalled(tests, title)().then(
    () => undefined,
    (error: unknown) => error,
  )
}

function testCalled(tests: CollectedTests, title: string): () => Promise<void> {
  const test = tests.get(title)
  if (!test) throw new Error(`There is no test called "${title}"`)
  return test
}
