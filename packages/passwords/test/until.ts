import { setTimeout as delay } from 'node:timers/promises'

/** Waits until `condition` holds; rejects with `what` after half a minute. */
export async function until(what: string, condition: () => boolean | Promise<boolean>) {
  const end = Date.now() + 30_000
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Waited in vain until ${what}`)
    await delay(5)
  }
}
