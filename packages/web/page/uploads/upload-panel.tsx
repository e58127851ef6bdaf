import { ChevronDown, ChevronUp, Pause, Play, X } from 'lucide'
import type { JSX } from 'preact'
import { useEffect, useReducer, useState } from 'preact/hooks'
import { IconButton } from '../app/icon-button.tsx'
import { formatDuration, formatSize } from '../i18n/format.ts'
import { language, plural, t } from '../i18n/language.ts'
import type { Uploads } from './create-uploads.ts'
import { UnfinishedRow } from './unfinished-row.tsx'
import type { UploadItem, UploadState } from './upload-item.ts'
import { UploadRow } from './upload-row.tsx'

const mostShown = 60
const urgency: readonly UploadState['kind'][] = [
  'conflict',
  'failed',
  'running',
  'retrying',
  'paused',
  'waiting',
  'done',
]

/** All uploads: a summary, and the ones that matter first. */
export function UploadPanel({ uploads }: { readonly uploads: Uploads }): JSX.Element | null {
  const [isOpen, setOpen] = useState(true)
  const items = uploads.items.value
  const known = new Set(items.map(({ name }) => name.value))
  const unfinished = uploads.unfinished.all.value.filter(({ name }) => !known.has(name))
  if (items.length + unfinished.length === 0) return null
  const ordered = [...items].sort((one, other) => rank(one) - rank(other))
  const shown = ordered.slice(0, mostShown)
  const isPausable = items.some(({ state }) =>
    ['running', 'waiting', 'retrying'].includes(state.value.kind),
  )
  const isPaused = !isPausable && items.some(({ state }) => state.value.kind === 'paused')
  const toAll = (act: (item: UploadItem) => void) => () => {
    for (const item of [...items].reverse()) act(item)
  }
  return (
    <section class="uploads" aria-label={t('uploads')}>
      <header class="uploads-head">
        <Summary uploads={uploads} />
        {isPausable && (
          <IconButton icon={Pause} label={t('pauseAll')} onClick={toAll(uploads.pause)} />
        )}
        {isPaused && (
          <IconButton icon={Play} label={t('resumeAll')} onClick={toAll(uploads.resume)} />
        )}
        <IconButton
          icon={isOpen ? ChevronDown : ChevronUp}
          label={t(isOpen ? 'collapse' : 'expand')}
          onClick={() => setOpen(!isOpen)}
        />
        {!isPausable && <IconButton icon={X} label={t('clearDone')} onClick={uploads.clear} />}
      </header>
      <Total items={items} />
      {isOpen && (
        <ul class="uploads-list" tabIndex={0} aria-label={t('uploads')}>
          {shown.map((item) => (
            <UploadRow key={item.id} item={item} queue={uploads} />
          ))}
          {items.length > shown.length && (
            <li class="uploads-more">{plural('moreUploads', items.length - shown.length)}</li>
          )}
          {unfinished.map((upload) => (
            <UnfinishedRow
              key={upload.address}
              upload={upload}
              onForget={(address) => uploads.abandon(address)}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

const rank = ({ state }: UploadItem) => urgency.indexOf(state.value.kind)

/** How much is done, how fast, and how long it takes; screen readers hear the first only. */
function Summary({ uploads }: { readonly uploads: Uploads }): JSX.Element {
  const [, redraw] = useReducer((times: number, _tick: undefined) => times + 1, 0)
  const isBusy = uploads.isBusy.value
  useEffect(() => {
    if (!isBusy) return
    const timer = setInterval(() => redraw(undefined), 1000)
    return () => clearInterval(timer)
  }, [isBusy])
  const items = uploads.items.value
  const done = items.filter(({ state }) => state.value.kind === 'done').length
  const failed = items.filter(({ state }) => state.value.kind === 'failed').length
  const left = items.reduce((sum, { file, sent }) => sum + file.size - sent.peek(), 0)
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
          {t('timeLeft', { time: formatDuration(left / perSecond, language.value) })}
        </p>
      )}
    </div>
  )
}

function Total({ items }: { readonly items: readonly UploadItem[] }): JSX.Element | null {
  const all = items.reduce((sum, { file }) => sum + file.size, 0)
  const sent = items.reduce((sum, item) => sum + item.sent.value, 0)
  if (all === 0 || sent >= all) return null
  return <progress class="uploads-total" value={sent} max={all} aria-label={t('uploads')} />
}
