import { isHoldfastError } from '../errors/holdfast-error.ts'

/** Whether it may be the size of the piece that something before the server did not take. */
export function mayBeTooLarge(error: unknown): boolean {
  return (
    isHoldfastError(error, 'no-answer') ||
    (isHoldfastError(error, 'unknown') && error.status === 413)
  )
}
