import type { ContractResult } from '../contract-result.ts'
import type { Suite } from '../stores.ts'

/** A suite called and headed `name`. */
export function suiteOf(
  name: string,
  without: Record<string, string> = {},
  exceptions: Record<string, string> = {},
): Suite {
  return { name, column: name, without, exceptions }
}

/** Results of one suite: a path such as `ranges > reads everything` to whether it passed. */
export function resultsOf(suite: string, outcomes: Record<string, boolean>): ContractResult[] {
  return Object.entries(outcomes).map(([path, passed]) => {
    const [group = '', test = ''] = path.split(' > ')
    return { suite, group, test, passed }
  })
}
