import { isHoldfastError } from '@holdfast/client/browser'
import { isRefusedLogin } from '../api/is-refused-login.ts'
import { explainError } from '../app/explain-error.ts'
import { plural, t } from '../i18n/language.ts'

/** Why signing in did not work, in words. */
export function signInProblem(error: unknown): string {
  if (isRefusedLogin(error)) return t('wrongPassword')
  if (isHoldfastError(error) && error.status === 429) {
    return plural('tooManyAttempts', error.retryAfter ?? 60)
  }
  return explainError(error)
}
