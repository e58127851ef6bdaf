import type { ClosableStore } from '../stores/closable-store.ts'
import type { Check } from './check.ts'
import { steadyCheck } from './steady-check.ts'

/** Whether the store keeps what is written into it, gives it back, and lets it go, tried with something of nobody. */
export function storeCheck(probe: ClosableStore['probe']): Check {
  return steadyCheck('store', async (signal) => {
    await probe(signal)
    return { ok: true }
  })
}
