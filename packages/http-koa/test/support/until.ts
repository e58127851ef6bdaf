import { setTimeout as delay } from 'node:timers/promises'

/** Resolves as soon as `condition` holds; rejects with `what` after half a minute, or `limitMs`. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 30_000,
): Promise<void> {
  const end = Date.now() + limitMs
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Waited in vain until ${what}`)
    await delay(2)
  }
}
