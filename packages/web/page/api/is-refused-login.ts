import { isHoldfastError, type HoldfastError } from '@holdfast/client/browser'

/** Whether the name or the password was refused. */
export function isRefusedLogin(error: unknown): error is HoldfastError {
  return isHoldfastError(error, 'invalid-credentials', 'missing-credentials')
}
