import { setTimeout as delay } from 'node:timers/promises'

/**
 * Waits until `condition` holds; rejects with `what`, as it is then, after half a minute or `limitMs`. It looks less often the longer it
 * has waited, and notices within a twentieth of that time: a condition may be a request, which takes the processor's time.
 */
export async function until(
  what: string | (() => string),
  condition: () => boolean | Promise<boolean>,
  limitMs = 30_000,
) {
  const begin = Date.now()
  while (!(await condition())) {
    const waited = Date.now() - begin
    if (waited > limitMs)
      throw new Error(`Waited in vain until ${typeof what === 'string' ? what : what()}`)
    await delay(Math.min(Math.max(5, waited / 20), 250))
  }
}
