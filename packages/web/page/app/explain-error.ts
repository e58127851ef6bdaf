import { isHoldfastError } from '@holdfast/client/browser'
import { isRefusedLogin } from '../api/is-refused-login.ts'
import { t } from '../i18n/language.ts'
import { UnreadableFileError } from '../uploads/assert-readable.ts'
import { ExplainedError } from './explained-error.ts'

/** What a failed request means, in words for its user. */
export function explainError(error: unknown): string {
  if (error instanceof ExplainedError) return t(error.key, error.values)
  if (error instanceof UnreadableFileError) return t('errorUnreadable')
  if (!isHoldfastError(error)) {
    return t('errorOther', { message: error instanceof Error ? error.message : String(error) })
  }
  if (isRefusedLogin(error)) return t('errorCredentials')
  const { code, status, message } = error
  if (code === 'no-answer') return t('errorOffline')
  if (status === 413) return t(code === 'quota-exceeded' ? 'errorQuota' : 'errorTooLarge')
  if (status === 429 || status === 503) return t('errorBusy')
  if (status === 507) return t('errorFull')
  if (code === 'invalid-file-name') return t('errorName')
  if (code === 'not-found') return t('errorGone')
  return t('errorOther', { message: message === '' ? String(status) : message })
}
