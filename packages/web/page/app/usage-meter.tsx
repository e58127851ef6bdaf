import type { JSX } from 'preact'
import { formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import type { FileList } from '../list/file-list-state.ts'

/** How much of the quota is used; nothing where the server does not say it. */
export function UsageMeter({ files }: { readonly files: FileList }): JSX.Element | null {
  const usage = files.usage.value
  if (usage === undefined) return null
  const used = formatSize(usage.bytes, language.value)
  if (usage.quota === undefined) return <p class="usage">{t('usage', { used })}</p>
  const quota = formatSize(usage.quota, language.value)
  const isShort = usage.bytes > 0.9 * usage.quota
  return (
    <div class={isShort ? 'usage usage-short' : 'usage'}>
      <p>{t('usageOf', { used, quota })}</p>
      <progress value={usage.bytes} max={usage.quota} aria-label={t('usageLabel')} />
    </div>
  )
}
