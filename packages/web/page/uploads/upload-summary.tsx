import type { JSX } from 'preact'
import { useEffect, useReducer } from 'preact/hooks'
import { formatDuration, formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import type { Uploads } from './run-uploads.ts'

const tickMs = 500

/** How much is done, how fast, and how long it takes; screen readers hear the first only. */
export function UploadSummary({ uploads }: { readonly uploads: Uploads }): JSX.Element {
  const [, redraw] = useReducer((times: number, _tick: undefined) => times + 1, 0)
  const isBusy = uploads.isBusy.value
  useEffect(() => {
    if (!isBusy) return
    const timer = setInterval(() => redraw(undefined), tickMs)
    return () => clearInterval(timer)
  }, [isBusy])
  const { done, failed } = uploads.counts.value
  const items = uploads.items.peek()
  const all = items.reduce((sum, { file }) => sum + file.size, 0)
  const sent = items.reduce((sum, item) => sum + item.sent.peek(), 0)
  const perSecond = isBusy ? uploads.rate.perSecond() : 0
  const isAllDone = items.length > 0 && done === items.length
  return (
    <div class="uploads-summary">
      <h2 aria-live="polite">
        {isAllDone
          ? t('uploadsAllDone')
          : items.length === 0
            ? t('uploads')
            : t('uploadsSummary', { done, all: items.length })}
        {failed > 0 && ` · ${t('uploadsFailed', { count: failed })}`}
      </h2>
      {perSecond > 0 && (
        <p>
          {t('perSecond', { size: formatSize(perSecond, language.value) })} ·{' '}
          {t('timeLeft', { time: formatDuration((all - sent) / perSecond, language.value) })}
        </p>
      )}
      {sent < all && (
        <progress class="uploads-total" value={sent} max={all} aria-label={t('uploads')} />
      )}
    </div>
  )
}
