import type { Faults } from './faults.ts'
import { passingItems } from './passing-items.ts'

/** `content` as a call of `method` takes it, which passes a step of `faults` for each chunk and for the end. */
export function takenWith(
  faults: Faults,
  method: string,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  return passingItems(() => content, {
    begin: () => () => {},
    pass: (moment, stopped) =>
      faults.pass({ method, moment }, signal ? AbortSignal.any([signal, stopped]) : stopped),
  })
}
