import { setTimeout as delay } from 'node:timers/promises'

/** Waits until `condition` holds; rejects with `what`, as it is then, after half a minute or `limitMs`. */
export async function until(
  what: string | (() => string),
  condition: () => boolean | Promise<boolean>,
  limitMs = 30_000,
) {
  const end = Date.now() + limitMs
  while (!(await condition())) {
    if (Date.now() > end)
      throw new Error(`Waited in vain until ${typeof what === 'string' ? what : what()}`)
    await delay(5)
  }
}
