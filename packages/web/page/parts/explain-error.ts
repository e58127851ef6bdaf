import { isHoldfastError } from '@holdfast/client/browser'
import { isRefusedLogin } from '../api/requests.ts'
import { t } from '../i18n/language.ts'
import type { StringKey, Values } from '../i18n/strings.ts'

/** Explains a failed request to the user. */
export function explainError(error: unknown): string {
  if (error instanceof ExplainedError) return t(error.key, error.values)
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
  if (code === 'not-allowed') return t('errorNotAllowed')
  if (code === 'not-found') return t('errorGone')
  if (code === 'version-not-found') return t('errorNotKept')
  return t('errorOther', { message: message === '' ? String(status) : message })
}

/** An error that a text of the page explains. */
export class ExplainedError extends Error {
  override readonly name = 'ExplainedError'
  readonly key: StringKey
  readonly values: Values

  constructor(key: StringKey, values: Values = {}, options?: ErrorOptions) {
    super(key, options)
    this.key = key
    this.values = values
  }
}
