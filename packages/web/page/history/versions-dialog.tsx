import { Download, Eye, Undo2 } from 'lucide'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { isHoldfastError, type FileDetails, type FileVersion } from '@holdfast/client/browser'
import type { CustomerAccess, ViewedFile } from '../api/connection.ts'
import { formatMoment, formatSecond, formatSize } from '../i18n/format.ts'
import { language, t, plural } from '../i18n/language.ts'
import { download } from '../list/download.ts'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import { IconButton } from '../parts/icon.tsx'
import { PreviewDialog } from '../preview/preview-dialog.tsx'
import { restoreVersion, type VersionSite, type Restores } from './restores.ts'
import { ConflictDialog } from '../uploads/conflict-dialog.tsx'
/** How many versions are listed at a time. */
const pageLength = 50

interface VersionsDialogProps {
  readonly site: CustomerAccess & VersionSite
  readonly file: FileDetails
  readonly mayRead: boolean
  readonly mayRestore: boolean
  readonly onClose: () => void
}

/** Lists the earlier versions of a file, newest first: to look at, download and restore. */
export function VersionsDialog(props: VersionsDialogProps): JSX.Element {
  const { site, file, mayRead, mayRestore, onClose } = props
  const { name } = file
  const { versions, hasMore, more, error } = useVersions(site, name)
  const [opened, setOpened] = useState<ViewedFile>()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const restore = async ({ version, modified }: Pick<ViewedFile, 'version' | 'modified'>) => {
    if (isBusy || version === undefined) return
    setBusy(true)
    setProblem(undefined)
    try {
      await restoreVersion(site, name, { version, modified })
      onClose()
    } catch (failure) {
      setProblem(explainError(failure))
      setBusy(false)
    }
  }
  const actions = {
    download: (version: ViewedFile) => void download(site, [version]),
    restore: mayRestore ? (version: ViewedFile) => void restore(version) : undefined,
    ...{ open: undefined, link: undefined, rename: undefined },
    ...{ versions: undefined, delete: undefined },
  }
  return (
    <>
      <Dialog title={t('versionsOf', { name })} class="versions" onClose={onClose}>
        {mayRestore && <p>{t('versionsLead')}</p>}
        <p role="alert" class="form-error">
          {problem ?? (error === undefined ? undefined : explainError(error))}
        </p>
        {versions === undefined && error === undefined && <p>{t('loading')}</p>}
        {versions?.length === 0 && <p class="versions-none">{t('noVersions')}</p>}
        {versions !== undefined && versions.length > 0 && (
          <ul class="versions-list">
            {versions.map((each) => (
              <VersionRow
                key={each.version}
                version={each}
                onOpen={mayRead ? () => setOpened(viewed(each)) : undefined}
                onDownload={mayRead ? () => actions.download(viewed(each)) : undefined}
                onRestore={mayRestore ? () => void restore(each) : undefined}
              />
            ))}
          </ul>
        )}
        {(hasMore || error !== undefined) && (
          <button type="button" class="button" onClick={more}>
            {t(error === undefined ? 'moreVersions' : 'tryAgain')}
          </button>
        )}
      </Dialog>
      {opened && (
        <PreviewDialog
          access={site}
          shown={[opened]}
          file={opened}
          moment="versionOf"
          actions={actions}
          onClose={() => setOpened(undefined)}
        />
      )}
    </>
  )
}

interface VersionRowProps {
  readonly version: FileVersion
  readonly onOpen: (() => void) | undefined
  readonly onDownload: (() => void) | undefined
  readonly onRestore: (() => void) | undefined
}

function VersionRow({ version, onOpen, onDownload, onRestore }: VersionRowProps): JSX.Element {
  const date = formatSecond(new Date(version.modified), language.value)
  const size = formatSize(version.size, language.value)
  const replaced = formatMoment(new Date(version.replaced), language.value)
  return (
    <li class="version">
      <div class="version-text">
        <time dateTime={version.modified}>{date}</time>
        <small>{t('versionFacts', { size, date: replaced })}</small>
      </div>
      {onOpen && <IconButton icon={Eye} label={t('openVersion', { date })} onClick={onOpen} />}
      {onDownload && (
        <IconButton icon={Download} label={t('downloadVersion', { date })} onClick={onDownload} />
      )}
      {onRestore && (
        <IconButton icon={Undo2} label={t('restoreVersion', { date })} onClick={onRestore} />
      )}
    </li>
  )
}

// The content of a version never changes.
const viewed = (version: FileVersion): ViewedFile => ({ ...version, etag: version.version })

interface LoadedVersions {
  /** `undefined` until the first ones are there. */
  readonly versions: readonly FileVersion[] | undefined
  readonly hasMore: boolean
  /** Loads more of them, also after an error. */
  readonly more: () => void
  readonly error: unknown
}

/** The versions of a file, loaded one page at a time. */
function useVersions({ connection: { client } }: CustomerAccess, name: string): LoadedVersions {
  const [versions, setVersions] = useState<readonly FileVersion[]>()
  const [hasMore, setMore] = useState(false)
  const [error, setError] = useState<unknown>()
  const [until] = useState(() => new AbortController())
  const load = async () => {
    const { signal } = until
    const before = versions?.at(-1)?.version
    const page: FileVersion[] = []
    setMore(false)
    setError(undefined)
    try {
      for await (const each of client.versions(name, { before, pageSizes: [pageLength], signal })) {
        page.push(each)
        if (page.length === pageLength) break
      }
    } catch (failure) {
      if (signal.aborted) return
      // There may be neither a file nor a version any more.
      if (!isHoldfastError(failure, 'unknown-file')) return setError(failure)
    }
    if (signal.aborted) return
    setVersions((known = []) => [...known, ...page])
    setMore(page.length === pageLength)
  }
  useEffect(() => {
    void load()
    return () => until.abort()
  }, [])
  return { versions, hasMore, more: () => void load(), error }
}

/** The most failed files that are listed; more would not be read. */
const mostListed = 100

interface RestoreDialogsProps {
  readonly restores: Restores
  readonly mayReplace: boolean
}

/** Asks about names that are taken, and then lists what could not be restored. */
export function RestoreDialogs({ restores, mayReplace }: RestoreDialogsProps): JSX.Element | null {
  const [conflict] = restores.conflicts.value
  if (conflict) {
    return (
      <ConflictDialog
        name={conflict.name}
        bothHint="restoreBothHint"
        forAll={conflict.others > 0 ? t('forAllNext') : undefined}
        mayReplace={mayReplace}
        isKept
        onDecide={conflict.decide}
        // The file stays among the deleted ones.
        onClose={() => conflict.decide('skip', false)}
      />
    )
  }
  return restores.failed.value.length > 0 ? <FailedDialog restores={restores} /> : null
}

function FailedDialog({ restores }: { readonly restores: Restores }): JSX.Element {
  const failed = restores.failed.value
  const listed = failed.slice(0, mostListed)
  const retry = () => {
    restores.dismissFailed()
    restores.restore(failed.map(({ file }) => file))
  }
  return (
    <Dialog
      title={plural('restoreFailedMany', failed.length)}
      class="failed"
      onClose={restores.dismissFailed}
    >
      <ul class="failed-list" tabIndex={0} aria-label={plural('restoreFailedMany', failed.length)}>
        {listed.map(({ file, error }) => (
          <li key={file.name}>
            <bdi>{file.name}</bdi>
            <small>{explainError(error)}</small>
          </li>
        ))}
        {failed.length > listed.length && (
          <li>{plural('moreUploads', failed.length - listed.length)}</li>
        )}
      </ul>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={restores.dismissFailed}>
          {t('close')}
        </button>
        <button type="button" class="button button-main" onClick={retry}>
          {t('tryAgain')}
        </button>
      </div>
    </Dialog>
  )
}
