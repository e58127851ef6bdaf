import { Check, Pause, Play, RotateCw, TriangleAlert, X } from 'lucide'
import type { JSX } from 'preact'
import { explainError } from '../app/explain-error.ts'
import { Icon } from '../app/icon.tsx'
import { IconButton } from '../app/icon-button.tsx'
import { formatSize } from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import { splitName } from '../list/split-name.ts'
import type { UploadItem } from './upload-item.ts'
import type { UploadQueue } from './upload-queue.ts'

interface UploadRowProps {
  readonly item: UploadItem
  readonly queue: UploadQueue
}

/** One file on its way: how far it is, and what can be done with it. */
export function UploadRow({ item, queue }: UploadRowProps): JSX.Element {
  const name = item.name.value
  const { kind } = item.state.value
  const [start, end] = splitName(name)
  const share = item.file.size === 0 ? 1 : item.sent.value / item.file.size
  return (
    <li class={`upload upload-${kind}`}>
      <div class="upload-text">
        <bdi class="name-parts" title={name}>
          <span class="name-start">{start}</span>
          <span class="name-end">{end}</span>
        </bdi>
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
