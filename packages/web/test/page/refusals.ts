import { HoldfastError } from '@holdfast/client/browser'

/** What the client rejects with. */
export const taken = () =>
  new HoldfastError('already-exists', 'Precondition Failed', { status: 412 })

export const quotaExceeded = () =>
  new HoldfastError('quota-exceeded', 'Quota exceeded', { status: 413 })

export const refusedLogin = () =>
  new HoldfastError('invalid-credentials', 'Invalid credentials', { status: 400 })

export const overloaded = (retryAfter: number) =>
  new HoldfastError('overloaded', 'Overloaded', { status: 503, retryAfter })

export const brokenLine = () => new HoldfastError('no-answer', 'No answer')
