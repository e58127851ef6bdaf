import type { Fault, FaultStep } from './faults.ts'

export type EveryFaultOptions = Omit<Fault, 'nth' | 'onStrike'>

/**
 * Runs `scenario` with a fault at the first step, then at the second, and so on, until a run meets its fault no more:
 * so the last run is one without faults. Each run makes everything anew, sets it up, and hands its fault to
 * `Faults.plan`. Resolves with the steps that were struck, one a run; with `lasting` the first of each.
 *
 * Rejects when a run rejects, with an `Error` that names the step and has the run's as its `cause`; and when already
 * the first run meets no fault, since then nothing is proven.
 */
export async function forEveryFault(
  scenario: (fault: Fault) => Promise<void>,
  options: EveryFaultOptions = {},
): Promise<readonly FaultStep[]> {
  const struck: FaultStep[] = []
  while (true) {
    const step = await runWith(scenario, { ...options, nth: struck.length + 1 })
    if (step === undefined) break
    struck.push(step)
  }
  if (struck.length === 0) throw new Error('The scenario meets no fault')
  return struck
}

async function runWith(
  scenario: (fault: Fault) => Promise<void>,
  fault: Fault,
): Promise<FaultStep | undefined> {
  let struck: FaultStep | undefined
  try {
    await scenario({ ...fault, onStrike: (step) => (struck ??= step) })
  } catch (error) {
    const where = struck ? `${struck.method}, ${struck.moment}` : 'not met'
    throw new Error(`Under fault ${fault.nth} (${where}): ${String(error)}`, { cause: error })
  }
  return struck
}
