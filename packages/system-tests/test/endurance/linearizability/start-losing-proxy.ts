import { createChoices } from '../soak/choices.ts'
import { startProxy, type Pass, type Proxy } from './start-proxy.ts'

/** A proxy in front of an S3 server that loses requests and answers. */
export interface LosingProxy extends Proxy {
  /** Begins to lose some; until then all pass. A server that starts may find that uploads in pieces cannot be kept here. */
  readonly lose: () => void
  /** How many requests that change something were carried out without an answer. */
  readonly lostAnswers: () => number
}

/**
 * Starts one on 127.0.0.1. Of requests that change something, one in ten does not arrive, one in ten is carried out and
 * breaks the connection, and one in ten is carried out and answered by 504.
 */
export async function startLosingProxy(target: string, seed: number): Promise<LosingProxy> {
  const choices = createChoices(seed, 'losses')
  let lostAnswers = 0
  let isLosing = false

  const pass: Pass = async ({ method, forward }) => {
    const isChange = isLosing && (method === 'PUT' || method === 'DELETE')
    const fate = isChange
      ? choices.weighted({ passed: 70, 'not arrived': 10, broken: 10, 'timed out': 10 })
      : 'passed'
    if (fate === 'not arrived') return undefined
    const answer = await forward()
    if (fate === 'passed') return answer
    lostAnswers++
    if (fate === 'broken') return undefined
    return { status: 504, headers: {}, body: Buffer.from('The server is too slow') }
  }
  return {
    ...(await startProxy(target, pass)),
    lose: () => void (isLosing = true),
    lostAnswers: () => lostAnswers,
  }
}
