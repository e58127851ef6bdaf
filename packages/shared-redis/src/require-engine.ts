import { having, requireCount, type OptionCheck } from '@holdfast/core'

/**
 * Refuses what is not an engine.
 *
 * @throws TypeError that says what it is, or what it has not
 */
export const requireEngine: (value: unknown) => void = (value) =>
  having('key', 'run', 'notify', 'onMessage', 'onChange', 'history', 'isAway')('engine', value)

/** The value must be a number of milliseconds, not below 0. */
export const requireMs: OptionCheck = (what, value) => requireCount(what, value, 'milliseconds')
