import { isHoldfastError, type Usage } from '@holdfast/client/browser'
import { ExplainedError } from '../parts/explain-error.ts'
import { formatCount, formatSize } from '../i18n/format.ts'
import { language } from '../i18n/language.ts'

/** What the customer uses, as it was a moment ago; `undefined` if the server does not say. */
export type RecentUsage = () => Promise<Usage | undefined>

/** `error`, or one with numbers where a file of `size` bytes exceeds the quota. */
export async function explainQuota(
  error: unknown,
  size: number,
  recentUsage: RecentUsage,
): Promise<unknown> {
  if (!isHoldfastError(error, 'quota-exceeded')) return error
  const usage = await recentUsage()
  return (usage && shortage(usage, size, error)) ?? error
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
