import type { Faults } from './faults.ts'
import { passingItems } from './passing-items.ts'

/** What `list` yields, as a call of `method` that passes the steps of `faults`; it begins when the first item is asked for. */
export function listedWith<Item>(
  faults: Faults,
  method: string,
  list: () => AsyncIterable<Item>,
): AsyncIterable<Item> {
  async function* items(stopped: AbortSignal) {
    await faults.pass({ method, moment: 'call' }, stopped)
    yield* list()
  }
  return passingItems(items, {
    begin: () => faults.begin(),
    pass: (moment, stopped) => faults.pass({ method, moment }, stopped),
  })
}
