import { isHoldfastError, type Usage } from '@holdfast/client/browser'
import type { Connection } from '../api/connection.ts'
import { ExplainedError } from '../parts/explain-error.ts'
import { formatCount, formatSize } from '../i18n/format.ts'
import { language } from '../i18n/language.ts'

/** Resolves to `error`, or to one with numbers where a file of `size` bytes exceeds the quota. */
export type ExplainQuota = (error: unknown, size: number) => Promise<unknown>

/** Explains by what the server says of the customer's usage. */
export function createQuotaExplainer({ client }: Connection): ExplainQuota {
  let usage = Promise.resolve<Usage | undefined>(undefined)
  let isFreshUntil = -Infinity
  /** Thousands of files may be refused in a row, and a server may have to count as many at each question. */
  const ask = () => {
    const askedAt = performance.now()
    if (askedAt < isFreshUntil) return usage
    isFreshUntil = Infinity
    usage = client
      .usage()
      .catch(() => undefined)
      .finally(() => {
        const now = performance.now()
        isFreshUntil = now + Math.max(1000, 20 * (now - askedAt))
      })
    return usage
  }
  return async (error, size) => {
    if (!isHoldfastError(error, 'quota-exceeded')) return error
    const known = await ask()
    return (known && shortage(known, size, error)) ?? error
  }
}

/** `undefined` where other uploads under way, or unfinished ones, take the room. */
function shortage(usage: Usage, size: number, cause: Error): ExplainedError | undefined {
  const { bytes, quota = Infinity, files, maxFiles = Infinity } = usage
  const shown = language.peek()
  if (bytes + size > quota) {
    const sizeOf = (value: number) => formatSize(value, shown)
    const values = { used: sizeOf(bytes), quota: sizeOf(quota), size: sizeOf(size) }
    return new ExplainedError('errorQuotaBytes', values, { cause })
  }
  if (files < maxFiles) return undefined
  const values = { count: formatCount(files, shown), most: formatCount(maxFiles, shown) }
  return new ExplainedError('errorQuotaFiles', values, { cause })
}
