import { ApiError, isRefusedLogin } from '../api/api-error.ts'
import { t } from '../i18n/language.ts'
import { UnreadableFileError } from '../uploads/assert-readable.ts'

/** What a failed request means, in words for its user. */
export function explainError(error: unknown): string {
  if (error instanceof UnreadableFileError) return t('errorUnreadable')
  if (!(error instanceof ApiError)) {
    return t('errorOther', { message: error instanceof Error ? error.message : String(error) })
  }
  if (isRefusedLogin(error)) return t('errorCredentials')
  const { status, message } = error
  if (status === 0) return t('errorOffline')
  if (status === 413) return t(/quota/i.test(message) ? 'errorQuota' : 'errorTooLarge')
  if (status === 429 || status === 503) return t('errorBusy')
  if (status === 507) return t('errorFull')
  if (message.startsWith('Invalid filename')) return t('errorName')
  if (message === 'File not found') return t('errorGone')
  return t('errorOther', { message: message === '' ? String(status) : message })
}
