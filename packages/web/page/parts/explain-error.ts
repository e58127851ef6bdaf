import { isHoldfastError } from '@holdfast/client/browser'
import { isRefusedLogin } from '../api/connection.ts'
import { formatCount, formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
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
  if (code === 'quota-exceeded') return explainQuota(message)
  if (status === 413) return t('errorTooLarge')
  if (status === 429 || status === 503) return t('errorBusy')
  if (status === 507) return t('errorFull')
  if (code === 'invalid-file-name') return t('errorName')
  if (code === 'not-allowed') return t('errorNotAllowed')
  if (code === 'not-found') return t('errorGone')
  if (code === 'version-not-found') return t('errorNotKept')
  return t('errorOther', { message: message === '' ? String(status) : message })
}

/** Explains a full quota with the numbers of the server's `message`; by a link, and to a login that may not list, it has none. */
function explainQuota(message: string): string {
  const [, used, quota, size] =
    /use (\d+) of (\d+) bytes, and this file needs (\d+)?/.exec(message) ?? []
  const sizeOf = (bytes: string) => formatSize(Number(bytes), language.value)
  if (used !== undefined && quota !== undefined) {
    const values = { used: sizeOf(used), quota: sizeOf(quota) }
    if (size === undefined) return t('errorQuotaRest', values)
    return t('errorQuotaBytes', { ...values, size: sizeOf(size) })
  }
  const [, count, most, what] = /(\d+) of (\d+) (files|unfinished)/.exec(message) ?? []
  if (count === undefined || most === undefined) return t('errorQuota')
  const countOf = (number: string) => formatCount(Number(number), language.value)
  const values = { count: countOf(count), most: countOf(most) }
  return t(what === 'files' ? 'errorQuotaFiles' : 'errorQuotaUnfinished', values)
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
