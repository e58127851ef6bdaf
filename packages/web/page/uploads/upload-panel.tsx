import {
  ChevronDown,
  ChevronUp,
  Pause,
  Play,
  RotateCw,
  X,
  Check,
  TriangleAlert,
  History,
} from 'lucide'
import type { JSX } from 'preact'
import { useState, useRef, useEffect, useReducer } from 'preact/hooks'
import { IconButton, Icon } from '../parts/icon.tsx'
import { plural, t, language } from '../i18n/language.ts'
import type { Uploads } from './create-uploads.ts'
import { type UploadItem, type UploadState, progressOf } from './upload-item.ts'
import { ConflictDialog } from './conflict-dialog.tsx'
import { shownProgress } from '../parts/document.ts'
import { explainError } from '../parts/explain-error.ts'
import { formatSize, formatDuration, formatPercent, splitName } from '../i18n/format.ts'
import type { UploadQueue } from './upload-queue.ts'
import type { UnfinishedUpload } from './unfinished-uploads.ts'

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

interface UploadRowProps {
  readonly item: UploadItem
  readonly queue: UploadQueue
}

/** A file to upload: its progress, and the possible actions. */
export function UploadRow({ item, queue }: UploadRowProps): JSX.Element {
  const name = item.name.value
  const { kind } = item.state.value
  const [start, end] = splitName(name)
  const share = item.file.size === 0 ? 1 : item.sent.value / item.file.size
  return (
    <li class={`upload upload-${kind}`}>
      <div class="upload-text">
        <bdi class="name-parts" title={name} aria-hidden="true">
          <span class="name-start">{start}</span>
          <span class="name-end">{end}</span>
        </bdi>
        {/* In one piece for screen readers. */}
        <bdi class="hidden">{name}</bdi>
        <span class="upload-note">{noteOf(item)}</span>
        {kind !== 'done' && kind !== 'failed' && kind !== 'conflict' && (
          <progress value={share} max={1} aria-label={name} />
        )}
      </div>
      <div class="upload-actions">
        {kind === 'done' && <Icon of={Check} />}
        {kind === 'failed' && <Icon of={TriangleAlert} />}
        {(kind === 'running' || kind === 'waiting' || kind === 'retrying') && (
          <IconButton icon={Pause} label={t('pause', { name })} onClick={() => queue.pause(item)} />
        )}
        {kind === 'paused' && (
          <IconButton
            icon={Play}
            label={t('resume', { name })}
            onClick={() => queue.resume(item)}
          />
        )}
        {(kind === 'failed' || kind === 'retrying') && (
          <IconButton
            icon={RotateCw}
            label={t('retry', { name })}
            onClick={() => queue.resume(item)}
          />
        )}
        {kind !== 'done' && (
          <IconButton
            icon={X}
            label={t(kind === 'failed' ? 'dismiss' : 'cancel', { name })}
            onClick={() => queue.cancel(item)}
          />
        )}
      </div>
    </li>
  )
}

function noteOf({ state, sent, file }: UploadItem): string {
  const size = formatSize(file.size, language.value)
  switch (state.value.kind) {
    case 'waiting':
      return `${t('waiting')} · ${size}`
    case 'running':
      return t('ofSize', { sent: formatSize(sent.value, language.value), size })
    case 'paused':
      return `${t('paused')} · ${t('ofSize', { sent: formatSize(sent.value, language.value), size })}`
    case 'retrying':
      return t('retryingIn')
    case 'conflict':
      return t('nameTaken')
    case 'failed':
      return explainError(state.value.error)
    case 'done':
      return `${t('done')} · ${size}`
  }
}

const tickMs = 500

/** The progress, the speed and the remaining time; screen readers hear only the first. */
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
  const { share, left } = progressOf(items)
  const seconds = isBusy ? uploads.rate.secondsFor(left) : undefined
  const { bytes: perSecond } = uploads.rate.perSecond()
  useEffect(() => {
    shownProgress.value = isBusy ? share : undefined
  }, [isBusy, share])
  useEffect(() => () => void (shownProgress.value = undefined), [])
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
      {seconds !== undefined && (
        <p>
          {t('perSecond', { size: formatSize(perSecond, language.value) })} ·{' '}
          {t('timeLeft', { time: formatDuration(seconds, language.value) })}
        </p>
      )}
      {share < 1 && (
        <progress class="uploads-total" value={share} max={1} aria-label={t('uploads')} />
      )}
    </div>
  )
}

/** The uploads of earlier visits that have not been continued. */
export function unfinishedOf({ items, unfinished }: Uploads): readonly UnfinishedUpload[] {
  const all = unfinished.all.value
  if (all.length === 0) return all
  const known = new Set(items.peek().map(({ name }) => name.peek()))
  return all.filter(({ name }) => !known.has(name))
}

/** A row for each of them: the browser may read its file only after the user has chosen it again. */
export function UnfinishedRows({ uploads }: { readonly uploads: Uploads }): JSX.Element {
  return (
    <>
      {unfinishedOf(uploads).map((upload) => (
        <UnfinishedRow
          key={upload.address}
          upload={upload}
          onForget={(address) => void uploads.abandon(address)}
        />
      ))}
    </>
  )
}

interface UnfinishedRowProps {
  readonly upload: UnfinishedUpload
  readonly onForget: (address: string) => void
}

function UnfinishedRow({ upload, onForget }: UnfinishedRowProps): JSX.Element {
  const { name, sent, size, address } = upload
  const percent = formatPercent(sent / size, language.value)
  return (
    <li class="upload upload-unfinished">
      <Icon of={History} />
      <div class="upload-text">
        <bdi class="name-parts" title={name}>
          {name}
        </bdi>
        <span class="upload-note">{t('resumeHint', { percent })}</span>
      </div>
      <div class="upload-actions">
        <IconButton icon={X} label={t('forget', { name })} onClick={() => onForget(address)} />
      </div>
    </li>
  )
}
