/**
 * Removes from `suite` the tests and suites of these titles, so that they do not run. A title has those of the suites
 * around it, from `suite` on without its own, joined by ` > `.
 *
 * @throws Error for a title that neither a test nor a suite has
 */
export function leaveOut(suite: Mocha.Suite, titles: readonly string[]): void {
  const missing = new Set(titles)
  const isWanted = (path: string) => !missing.delete(path)
  const prune = (parent: Mocha.Suite, prefix: string) => {
    const pathOf = ({ title }: { readonly title: string }) => `${prefix}${title}`
    parent.tests = parent.tests.filter((test) => isWanted(pathOf(test)))
    parent.suites = parent.suites.filter((child) => isWanted(pathOf(child)))
    for (const child of parent.suites) prune(child, `${pathOf(child)} > `)
  }
  prune(suite, '')
  const [first] = missing
  if (first !== undefined) throw new Error(`To be left out, but there is no such test: ${first}`)
}
