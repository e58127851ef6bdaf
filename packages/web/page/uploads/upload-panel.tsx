import { ChevronDown, ChevronUp, Pause, Play, RotateCw, X } from 'lucide'
import type { JSX } from 'preact'
import { useState, useRef } from 'preact/hooks'
import { IconButton } from '../parts/icon.tsx'
import { plural, t } from '../i18n/language.ts'
import type { Uploads } from './run-uploads.ts'
import { UnfinishedRows, unfinishedOf, UploadRow, UploadSummary } from './upload-rows.tsx'
import type { UploadItem, UploadState } from './upload-item.ts'
import { ConflictDialog } from './conflict-dialog.tsx'

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

/** Shows all uploads: a summary, and the most important ones first. */
export function UploadPanel({ uploads }: { readonly uploads: Uploads }): JSX.Element | null {
  const [isOpen, setOpen] = useState(true)
  // The counts change with each state. To watch ten thousand states would take too long.
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

interface UploadConflictProps {
  readonly uploads: Uploads
  readonly mayReplace: boolean
  readonly isKept: boolean
}

/** Asks what to do with an upload whose name is taken on the server. */
export function UploadConflict(props: UploadConflictProps): JSX.Element | null {
  const { uploads, mayReplace, isKept } = props
  const asked = useRef<UploadItem>()
  // The counts change with the states, of which there may be thousands.
  const count = uploads.counts.value.conflict
  if (count === 0) return null
  const conflicts = uploads.items.peek().filter(({ state }) => state.peek().kind === 'conflict')
  // Another conflict must not change the question under the pointer.
  const shown = conflicts.find((item) => item === asked.current) ?? conflicts[0]
  asked.current = shown
  if (!shown) return null
  const others = conflicts.length - 1
  return (
    <ConflictDialog
      name={shown.name.value}
      bothHint="keepBothHint"
      forAll={others > 0 ? plural('forAllConflicts', others) : t('forAllNext')}
      mayReplace={mayReplace}
      isKept={isKept}
      onDecide={(decision, isForAll) => uploads.decide(shown, decision, isForAll)}
      // Without a decision they wait: whoever resumes one is asked again.
      onClose={() => uploads.pause(...conflicts)}
    />
  )
}
