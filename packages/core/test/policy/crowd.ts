import { createMemoryFailureCounter } from '../../src/memory/index.ts'
import { FileServiceError } from '../../src/model/errors.ts'
import {
  createLoginBrake,
  type LoginAttempt,
  type LoginBrakeOptions,
} from '../../src/policy/brakes.ts'
import { turn } from '../turn.ts'

type Verdict = boolean | Error

/** A brake with attempts that last until they are told how they end. */
export function crowd({
  counter,
  waitingPerAddress = Infinity,
  waiting = Infinity,
  ...options
}: Partial<LoginBrakeOptions> = {}) {
  const brake = createLoginBrake({
    counter: counter ?? createMemoryFailureCounter({ windowMs: 60_000, now: () => 0 }),
    waitingPerAddress,
    waiting,
    ...options,
  })
  const underWay: ((verdict: Verdict) => void)[] = []
  let begun = 0
  const attempt = (name: string, address: string, more: Partial<LoginAttempt> = {}) =>
    brake.attempt({ name, address, ...more }, () => {
      begun++
      return new Promise((resolve, reject) =>
        underWay.push((verdict) => (verdict instanceof Error ? reject(verdict) : resolve(verdict))),
      )
    })
  const end = async (verdict: Verdict, times = 1) => {
    for (let time = 0; time < times; time++) underWay.shift()?.(verdict)
    await turn()
  }
  return { brake, attempt, end, begun: () => begun, underWay: () => underWay.length }
}

/** `make` of 0 to `count - 1`. */
export function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n))
}

/** What `authenticate` makes of a wrong password. */
export function refuseFalse(isRight: boolean): void {
  if (!isRight) throw new FileServiceError('invalid-credentials', 'Invalid credentials')
}
