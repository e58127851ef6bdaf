import { setTimeout as delay } from 'node:timers/promises'

/** Waits until `condition` holds; rejects with `what`, as it is then, after ten seconds. */
export async function until(
  what: string | (() => string),
  condition: () => boolean | Promise<boolean>,
) {
  const end = Date.now() + 10_000
  while (!(await condition())) {
    if (Date.now() > end)
      throw new Error(`Waited in vain until ${typeof what === 'string' ? what : what()}`)
    await delay(5)
  }
}
