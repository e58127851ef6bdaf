import type { SuiteRunner } from '../src/support/suite-runner.ts'

/** What `declare` declares, each test under the titles that lead to it, joined by ` > `, without the suite's own. */
export function collectTests(
  declare: (runner: SuiteRunner) => void,
): ReadonlyMap<string, () => Promise<void>> {
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
