import { isHoldfastError } from '../errors/holdfast-error.ts'

/**
 * Whether it is certain that nothing was stored. Otherwise a second request could find the name taken by the first one's file,
 * and nothing would say whose it is.
 */
export function hasStoredNothing(error: unknown): boolean {
  if (isHoldfastError(error, 'overloaded', 'too-many-attempts')) return true
  const { cause } = error as Error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'].includes(String(code))
}
