import { ChevronDown, ChevronUp, Pause, Play, RotateCw, X } from 'lucide'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { IconButton } from '../parts/icon.tsx'
import { plural, t } from '../i18n/language.ts'
import type { Uploads } from './run-uploads.ts'
import { UnfinishedRows, unfinishedOf, UploadRow, UploadSummary } from './upload-rows.tsx'
import type { UploadItem, UploadState } from './upload-item.ts'

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
  // The counts change with each state. To follow the state of each of ten thousand would take too long.
  const counts = uploads.counts.value
  const items = uploads.items.peek()
  if (items.length + unfinishedOf(uploads).length === 0) return null
  const shown = mostUrgent(items)
  const isPausable = counts.running + counts.waiting + counts.retrying > 0
  const of = (...kinds: UploadState['kind'][]) =>
    uploads.items.peek().filter(({ state }) => kinds.includes(state.peek().kind))
  return (
    <section class="uploads" aria-label={t('uploads')}>
      <header class="uploads-head">
        <UploadSummary uploads={uploads} />
        {counts.failed > 1 && (
          <IconButton
            icon={RotateCw}
            label={t('retryAll')}
            onClick={() => uploads.resume(...of('failed'))}
          />
        )}
        {isPausable && (
          <IconButton
            icon={Pause}
            label={t('pauseAll')}
            onClick={() => uploads.pause(...of('running', 'waiting', 'retrying'))}
          />
        )}
        {!isPausable && counts.paused > 0 && (
          <IconButton
            icon={Play}
            label={t('resumeAll')}
            onClick={() => uploads.resume(...of('paused'))}
          />
        )}
        <IconButton
          icon={isOpen ? ChevronDown : ChevronUp}
          label={t(isOpen ? 'collapse' : 'expand')}
          onClick={() => setOpen(!isOpen)}
        />
        {counts.done > 0 && !isPausable && (
          <IconButton icon={X} label={t('clearDone')} onClick={uploads.clear} />
        )}
        {counts.done === 0 && counts.failed > 1 && (
          <IconButton
            icon={X}
            label={t('dismissAll')}
            onClick={() => uploads.cancel(...of('failed'))}
          />
        )}
      </header>
      {isOpen && (
        <ul class="uploads-list" tabIndex={0} aria-label={t('uploads')}>
          {shown.map((item) => (
            <UploadRow key={item.id} item={item} queue={uploads} />
          ))}
          {items.length > shown.length && (
            <li class="uploads-more">{plural('moreUploads', items.length - shown.length)}</li>
          )}
          <UnfinishedRows uploads={uploads} />
        </ul>
      )}
    </section>
  )
}

function mostUrgent(items: readonly UploadItem[]): readonly UploadItem[] {
  const byKind = Map.groupBy(items, ({ state }) => state.peek().kind)
  const ordered = urgency.flatMap((kind) => (byKind.get(kind) ?? []).slice(0, mostShown))
  return ordered.slice(0, mostShown)
}
