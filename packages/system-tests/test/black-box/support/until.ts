import { setTimeout as delay } from 'node:timers/promises'

const limitMs = 60_000

/** Resolves as soon as `condition` holds; rejects after a minute, which is beyond the time limit of any test here. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + limitMs
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Waited in vain until ${String(condition)}`)
    await delay(2)
  }
}
