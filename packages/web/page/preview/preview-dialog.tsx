import {
  ChevronLeft,
  ChevronRight,
  Download,
  History,
  Info,
  Link,
  Pencil,
  Trash2,
  Undo2,
  Hash,
} from 'lucide'
import type { JSX } from 'preact'
import { foldersFromName } from '@holdfast/client/browser'
import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { IconButton, Icon } from '../parts/icon.tsx'
import {
  type CustomerAccess,
  type ViewedFile,
  type Connection,
  readFile,
  makeLink,
} from '../api/connection.ts'
import {
  formatMoment,
  formatSize,
  formatCount,
  formatPercent,
  formatSecond,
  shortName,
} from '../i18n/format.ts'
import { language, t } from '../i18n/language.ts'
import type { FileAction, RowActions } from '../list/file-row.tsx'
import { type ContentAccess, PreviewContent } from './preview-content.tsx'
import { readSetting, writeSetting } from '../browser/storage-and-timers.ts'
import { pathOf } from '../list/folders.ts'
import { explainError } from '../parts/explain-error.ts'
import { address, changeAddress } from '../browser/address.ts'
import type { ListedFiles } from '../list/file-list-state.ts'
import { notifyError } from '../parts/notices.ts'

interface PreviewDialogProps {
  readonly access: CustomerAccess
  /** The files of the list, in its order. */
  readonly shown: readonly ViewedFile[]
  readonly file: ViewedFile
  /** How the time of the file is written. Default: without words. */
  readonly moment?: 'deletedAt' | 'versionOf'
  readonly actions: Omit<RowActions, 'select' | 'menu'>
  readonly isInAddress?: boolean
  readonly onClose: () => void
}

/** A preview of one file; the arrow keys lead to its neighbours in the list. */
export function PreviewDialog({
  access,
  shown,
  file,
  moment,
  actions,
  isInAddress = false,
  onClose,
}: PreviewDialogProps): JSX.Element {
  const index = shown.findIndex(({ name }) => name === file.name)
  const go = (step: number) => {
    const other = shown[index + step]
    if (other) actions.open?.(other)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const isOwn = (event.target as HTMLElement).closest('video, audio, pre, .preview-formatted')
    if (isOwn || event.ctrlKey || event.metaKey || event.altKey) return
    const forward = document.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') go(event.key === forward ? 1 : -1)
  }
  const { name } = file
  const { link, rename, versions, restore } = actions
  const date = formatMoment(new Date(file.modified), language.value)
  /** Closes the preview first: what follows has a dialog of its own, or takes the file out of the list. */
  const afterClosing = (action: FileAction) => () => {
    onClose()
    action(file)
  }
  const facts = [
    formatSize(file.size, language.value),
    moment ? t(moment, { date }) : date,
    ...(file.expires === undefined ? [] : [expiryOf(file.expires)]),
  ].join(' · ')
  return (
    <Dialog
      title={name}
      class="preview"
      isInAddress={isInAddress}
      onClose={onClose}
      onKeyDown={onKeyDown}
    >
      <div class="preview-frame">
        <div class="preview-bar">
          <span class="preview-facts">{facts}</span>
          {shown.length > 1 && (
            <>
              <IconButton icon={ChevronLeft} label={t('previous')} onClick={() => go(-1)} />
              <IconButton icon={ChevronRight} label={t('next')} onClick={() => go(1)} />
            </>
          )}
          <IconButton
            icon={Info}
            label={t('details')}
            isPressed={areDetailsShown.value}
            onClick={toggleDetails}
          />
          <IconButton
            icon={Download}
            label={t('downloadFile', { name })}
            onClick={() => actions.download?.(file)}
          />
          {link && <IconButton icon={Link} label={t('makeLink')} onClick={() => link(file)} />}
          {rename && (
            <IconButton
              icon={Pencil}
              label={t('renameFile', { name })}
              onClick={afterClosing(rename)}
            />
          )}
          {versions && (
            <IconButton
              icon={History}
              label={t('versionsOf', { name })}
              onClick={afterClosing(versions)}
            />
          )}
          {restore && (
            <IconButton
              icon={Undo2}
              label={t('restoreFile', { name })}
              onClick={afterClosing(restore)}
            />
          )}
          {actions.delete && (
            <IconButton
              icon={Trash2}
              label={t('deleteFile', { name })}
              onClick={afterClosing(actions.delete)}
            />
          )}
        </div>
        <div class="preview-content">
          <div class="preview-stage">
            <PreviewContent access={contentAccess(access, file)} />
          </div>
          {areDetailsShown.value && (
            <Details
              connection={access.connection}
              file={file}
              onLink={link && (() => link(file))}
              onVersions={versions && afterClosing(versions)}
            />
          )}
        </div>
      </div>
    </Dialog>
  )
}

const expiryOf = (expires: string) =>
  t('expires', { date: formatMoment(new Date(expires), language.value) })

/** How the preview reads a file. No link opens an earlier version. */
function contentAccess({ connection, hasLinks }: CustomerAccess, file: ViewedFile): ContentAccess {
  return {
    file,
    read: (options) => readFile(connection, file, options),
    link:
      hasLinks && file.version === undefined
        ? async () => (await makeLink(connection, file.name, { inline: true })).url
        : undefined,
  }
}

/** Whether the details are shown beside the preview. The browser keeps it. */
export const areDetailsShown = signal(readSetting('details') === 'shown')

export function toggleDetails(): void {
  areDetailsShown.value = !areDetailsShown.value
  writeSetting('details', areDetailsShown.value ? 'shown' : undefined)
}

interface DetailsProps {
  readonly connection: Connection
  readonly file: ViewedFile
  // What cannot be done is left out.
  readonly onLink: (() => void) | undefined
  readonly onVersions: (() => void) | undefined
}

/** What is known of a file, and its digest, which the browser computes when that is asked for. */
export function Details({ connection, file, onLink, onVersions }: DetailsProps): JSX.Element {
  const { name, size, modified, expires, type, etag, version } = file
  const folder = foldersFromName(name).at(-1)
  const shown = language.value
  const bytes = size < 1000 ? '' : ` (${t('bytes', { count: formatCount(size, shown) })})`
  const facts: readonly (readonly [label: string, value: string])[] = [
    [t('columnName'), name],
    ...(folder === undefined ? [] : ([[t('folder'), pathOf(folder)]] as const)),
    [t('columnSize'), formatSize(size, shown) + bytes],
    [t('columnModified'), formatSecond(new Date(modified), shown)],
    ...(expires === undefined
      ? []
      : ([[t('expiry'), formatSecond(new Date(expires), shown)]] as const)),
    [t('columnType'), type],
    ...(version === undefined ? ([['ETag', etag]] as const) : []),
  ]
  return (
    <aside class="details" aria-label={t('details')}>
      <dl>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
        <Digest key={`${name}\n${etag}`} connection={connection} file={file} />
      </dl>
      {onLink && (
        <button type="button" class="button" onClick={onLink}>
          <Icon of={Link} />
          {t('makeLink')}
        </button>
      )}
      {onVersions && (
        <button type="button" class="button" onClick={onVersions}>
          <Icon of={History} />
          {t('earlierVersions')}
        </button>
      )}
    </aside>
  )
}

type DigestState =
  | { readonly progress: number }
  | { readonly digest: string }
  | { readonly error: unknown }
  | undefined

/** The SHA-256 of a file. The server has none, so that the browser reads the file, in chunks. */
function Digest({ connection, file }: Pick<DetailsProps, 'connection' | 'file'>): JSX.Element {
  const [state, setState] = useState<DigestState>()
  const until = useRef(new AbortController())
  useEffect(() => () => until.current.abort(), [])
  const compute = async () => {
    const { signal: ended } = until.current
    setState({ progress: 0 })
    try {
      const digest = await digestOf(connection, file, ended, (progress) => setState({ progress }))
      if (!ended.aborted) setState({ digest })
    } catch (error) {
      if (!ended.aborted) setState({ error })
    }
  }
  return (
    <div>
      <dt>SHA-256</dt>
      <dd>
        {state === undefined && (
          <button type="button" class="button" onClick={() => void compute()}>
            <Icon of={Hash} />
            {t('computeDigest')}
          </button>
        )}
        <span role="status">
          {state && 'progress' in state && formatPercent(state.progress, language.value)}
          {state && 'digest' in state && <code>{state.digest}</code>}
          {state && 'error' in state && explainError(state.error)}
        </span>
      </dd>
    </div>
  )
}

async function digestOf(
  { downloads }: Connection,
  { name, version, size }: ViewedFile,
  signal: AbortSignal,
  onProgress: (progress: number) => void,
): Promise<string> {
  const { sha256 } = await import('@noble/hashes/sha2.js')
  const hash = sha256.create()
  const { body } = await downloads.download(name, { version, signal })
  let done = 0
  let reported = 0
  const reader = body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    hash.update(next.value)
    done += next.value.length
    const progress = Math.min(1, Math.floor((100 * done) / size) / 100)
    if (progress > reported) onProgress((reported = progress))
  }
  return [...hash.digest()].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Opens a file: its name comes into the address of the page, and Back closes it. */
export const openFile = ({ name }: ViewedFile) => changeAddress({ file: name })

export const closeFile = () => changeAddress({ file: undefined })

/**
 * The file that the address names, `undefined` unless it names one of this list. A link may name one that the list has not loaded yet: then `find` looks for it, or, without that, it is
 * waited for. A name without a file is taken out of the address, and the page says why.
 */
export function useOpenedFile(
  files: ListedFiles,
  isOfDeleted: boolean,
  find?: (name: string) => Promise<ViewedFile>,
): ViewedFile | undefined {
  const { isDeleted, file } = address.value
  const name = isDeleted === isOfDeleted ? file : undefined
  const last = useRef<ViewedFile>()
  const [found, setFound] = useState<ViewedFile>()
  const listed = name === undefined ? undefined : files.all.value.find((file) => file.name === name)
  // A file that is open stays so when it leaves the list.
  const opened = listed ?? [found, last.current].find((file) => file?.name === name)
  last.current = opened
  const isMissing = name !== undefined && opened === undefined
  const isComplete = files.status.value === 'complete'
  useEffect(() => {
    if (!isMissing || (!find && !isComplete)) return
    let isWanted = true
    const giveUp = (reason: string) => {
      if (!isWanted) return
      closeFile()
      notifyError(`${t('openFailed', { name: shortName(name) })} ${reason}`)
    }
    if (find) find(name).then(setFound, (error: unknown) => giveUp(explainError(error)))
    else giveUp(t('errorNotKept'))
    return () => void (isWanted = false)
  }, [name, isMissing, isComplete])
  return name === undefined ? undefined : opened
}
