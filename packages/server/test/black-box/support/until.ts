import { setTimeout as delay } from 'node:timers/promises'

/** Resolves as soon as `condition` holds; a test that waits in vain runs into its time limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(2)
}
