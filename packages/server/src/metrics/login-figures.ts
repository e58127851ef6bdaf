import type { IncomingMessage } from 'node:http'
import { isFileServiceError } from '@holdfast/core'
import { Gauge, Histogram, type Registry } from 'prom-client'
import type { ServerWatch } from '../serve/server-watch.ts'
import { createCounts } from './counts.ts'

/** What becomes of logins that are refused on purpose. */
const refusals: Readonly<Record<string, string>> = {
  'missing-credentials': 'missing',
  'invalid-credentials': 'refused',
  'too-many-attempts': 'braked',
  overloaded: 'overloaded',
}

const outcomes = ['accepted', ...Object.values(refusals), 'abandoned', 'failed']

/** Figures of logins, one at every request of a customer, and of the passwords that had to be hashed for them. */
export function createLoginFigures(
  register: Registry,
): Required<Pick<ServerWatch, 'onLogin' | 'verifyPassword'>> {
  const registers = [register]
  const logins = createCounts(register, {
    name: 'holdfast_logins_total',
    help: 'Logins, one for each request of a customer, by what became of them.',
    labelNames: ['outcome'],
  })
  const [accepted] = outcomes.map((outcome) => logins(outcome))
  const checks = new Histogram({
    name: 'holdfast_password_check_duration_seconds',
    help: 'Checks of passwords that were not remembered, with the time that they waited.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  let underWay = 0
  new Gauge({
    name: 'holdfast_password_checks_under_way',
    help: 'Passwords that are being hashed, or wait for it.',
    registers,
    collect() {
      this.set(underWay)
    },
  })

  const time = async (verdict: Promise<boolean>) => {
    const begin = performance.now()
    underWay++
    try {
      return await verdict
    } finally {
      underWay--
      checks.observe((performance.now() - begin) / 1000)
    }
  }
  return {
    onLogin({ request, error }) {
      if (error === undefined) accepted?.add()
      else logins(outcomeOf(error, request)).add()
    },
    verifyPassword:
      (verify) =>
      (...attempt) => {
        const verdict = verify(...attempt)
        return verdict instanceof Promise ? time(verdict) : verdict
      },
  }
}

function outcomeOf(error: unknown, { socket }: IncomingMessage): string {
  const refusal = isFileServiceError(error) ? refusals[error.code] : undefined
  return refusal ?? (socket.destroyed ? 'abandoned' : 'failed')
}
