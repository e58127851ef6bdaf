import { folderTitle } from '@holdfast/client/browser'
import type { JSX } from 'preact'
import { effect } from '@preact/signals'
import { useCallback, useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { type Connection, type ViewedFile, readFile } from '../api/connection.ts'
import { address, changeAddress, followHistory, formatAddress } from '../browser/address.ts'
import { DeletedPage } from '../history/deleted-page.tsx'
import { RestoreDialogs, VersionsDialog } from '../history/versions-dialog.tsx'
import { CircleUser, LogOut, Unlink } from 'lucide'
import { EndLinksDialog, LinkDialog } from '../links/link-dialog.tsx'
import { UploadLinkDialog } from '../links/upload-link-dialog.tsx'
import { download, downloadZip } from '../list/download.ts'
import { EmptyList, FileGrid, NoFiles } from '../list/file-grid.tsx'
import { RenameDialog, MoveDialog, RenameFolderDialog } from '../list/rename-and-move.tsx'
import { FolderBar, areTiles, FilterField, StatusLine } from '../list/toolbar.tsx'
import {
  crumbsOf,
  folderInHash,
  nameInFolder,
  parentOf,
  selectedFiles,
  selectedFolders,
} from '../list/folders.ts'
import { drawThumbnail, TileGrid } from '../list/tile-grid.tsx'
import { createThumbnails, type Thumbnails } from '../list/thumbnails.ts'
import { harmlessType } from '../list/file-kind.ts'
import { closeFile, openFile, useOpenedFile, PreviewDialog } from '../preview/preview-dialog.tsx'
import { type NamedFile, DropZone, UploadButtons } from '../uploads/choose-files.tsx'
import { UploadConflict, UploadPanel } from '../uploads/upload-panel.tsx'
import { Logo, Icon } from '../parts/icon.tsx'
import { t, language, plural } from '../i18n/language.ts'
import { Preferences } from '../parts/preferences.tsx'
import { formatCount, formatSize } from '../i18n/format.ts'
import type { FileList, ListedFiles } from '../list/file-list-state.ts'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import { notifyError } from '../parts/notices.ts'
import { type Session, signOut } from './session.ts'

/** The page for a customer who has signed in. */
export function FilesPage({ session }: { readonly session: Session }): JSX.Element {
  const { connection, files, uploads, deletions, deleted, restores } = session
  const [linked, setLinked] = useState<ViewedFile>()
  const [renamed, setRenamed] = useState<ViewedFile>()
  const [versioned, setVersioned] = useState<ViewedFile>()
  const [isAsking, setAsking] = useState(false)
  const [isEndingLinks, setEndingLinks] = useState(false)
  const [moved, setMoved] = useState<ReadonlySet<string>>()
  const thumbnails = useThumbnails(connection, session.may('read'))
  const { folder: folderPath } = address.value
  const closed = { folder: folderPath, filter: '', file: undefined }
  useLayoutEffect(() => files.openFolder(folderInHash(folderPath)), [files, folderPath])
  const folder = files.folder.value
  const add = useCallback(
    (added: readonly NamedFile[], into = folder) =>
      uploads.add(added.map(({ file, name }) => ({ file, name: nameInFolder(into, name) }))),
    [uploads, folder],
  )
  const [toConfirm, setToConfirm] = useState<readonly string[]>()
  const deleteEntries = (entries: ReadonlySet<string>) =>
    void withEntries(session, entries, (all) => {
      const names = all.map(({ name }) => name)
      if (names.length > mostUnasked) setToConfirm(names)
      else deletions.delete(names)
    })
  const onSelected = (act: (all: readonly ViewedFile[]) => void) => () =>
    void withEntries(session, files.selected.value, act)
  const mayRead = session.may('read')
  const mayCreate = session.may('create')
  const mayDelete = session.may('delete')
  const mayReplace = session.may('replace')
  const isKept = session.isKept.value
  const mayRestore = mayRead && mayCreate
  const isShowingDeleted = address.value.isDeleted && isKept
  useAddress(isShowingDeleted ? deleted : files)
  const opened = useOpenedFile(files, false, (name) => connection.client.stat(name))
  const mayLink = session.hasLinks && session.may('link')
  const mayEndLinks =
    session.canEndLinks && mayRead && mayCreate && mayDelete && mayReplace && session.may('link')
  const endLinks = () => {
    // A link that is shown would be ended, too.
    setLinked(undefined)
    setAsking(false)
    setEndingLinks(true)
  }
  const onEndLinks = mayEndLinks ? endLinks : undefined
  const mayRename = session.canRename && mayRead && mayCreate && mayDelete
  const actions = useMemo(() => {
    return {
      open: mayRead ? openFile : undefined,
      download: mayRead
        ? (file: ViewedFile) => {
            if (!file.folder) return void download(session, [file])
            const { prefix, title } = file.folder
            const zip = { base: parentOf(prefix), title }
            void withEntries(session, new Set([file.name]), (all) => {
              void downloadZip(session, all, zip)
            })
          }
        : undefined,
      link: mayLink && mayRead ? setLinked : undefined,
      rename: mayRename ? setRenamed : undefined,
      versions: isKept ? setVersioned : undefined,
      restore: undefined,
      delete: mayDelete
        ? (file: ViewedFile) => {
            if (file.folder) deleteEntries(new Set([file.name]))
            else deletions.delete([file.name])
          }
        : undefined,
    }
  }, [session, mayRead, mayRename, mayDelete, mayLink, isKept])
  useEffect(() => {
    const undo = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest('input, select, textarea, dialog')
      if (event.key !== 'z' || !(event.ctrlKey || event.metaKey) || isTyping) return
      event.preventDefault()
      if (!event.repeat) deletions.undo()
    }
    addEventListener('keydown', undo)
    return () => removeEventListener('keydown', undo)
  }, [deletions])
  return (
    <div class="page">
      <header class="head">
        <h1 class="brand">
          <Logo />
          <span>holdfast</span>
        </h1>
        <FilterField files={isShowingDeleted ? deleted : files} />
        {mayCreate && <UploadButtons onFiles={add} />}
        <AccountMenu session={session} onEndLinks={onEndLinks} />
      </header>
      {isShowingDeleted ? (
        <DeletedPage site={session} mayRead={mayRead} mayRestore={mayRestore} />
      ) : (
        <main class="main main-files" tabIndex={-1}>
          <FolderBar files={files} />
          <StatusLine
            files={files}
            onDownload={mayRead ? onSelected((all) => void download(session, all)) : undefined}
            onDownloadZip={
              mayRead
                ? onSelected((all) => {
                    const base = files.areFolders.value ? folder : undefined
                    void downloadZip(session, all, { base })
                  })
                : undefined
            }
            onMove={mayRename ? () => setMoved(files.selected.value) : undefined}
            onDelete={mayDelete ? () => deleteEntries(files.selected.value) : undefined}
            deletedFiles={isKept ? formatAddress({ ...closed, isDeleted: true }) : undefined}
            onAsk={mayLink && mayCreate ? () => setAsking(true) : undefined}
          />
          {files.visible.value.length > 0 ? (
            areTiles.value ? (
              <TileGrid key={folder} files={files} actions={actions} thumbnails={thumbnails} />
            ) : (
              <FileGrid
                key={folder}
                files={files}
                actions={actions}
                onSeen={(rows) => (files.inView.value = rows)}
              />
            )
          ) : (
            <EmptyList files={files}>
              <NoFiles files={files} />
            </EmptyList>
          )}
        </main>
      )}
      <UploadPanel uploads={uploads} />
      {mayCreate && <DropZone onFiles={add} into={crumbsOf(folder).at(-1)?.title} />}
      <UploadConflict uploads={uploads} mayReplace={mayReplace} isKept={isKept} />
      <RestoreDialogs restores={restores} mayReplace={mayReplace} />
      {opened && mayRead && (
        <PreviewDialog
          access={session}
          shown={files.visible.value.filter((each) => each.folder === undefined)}
          file={opened}
          actions={actions}
          isInAddress
          onClose={closeFile}
        />
      )}
      {linked && (
        <LinkDialog
          connection={connection}
          file={linked}
          onEndLinks={onEndLinks}
          onClose={() => setLinked(undefined)}
        />
      )}
      {moved && <MoveDialog site={session} selected={moved} onClose={() => setMoved(undefined)} />}
      {renamed?.folder && (
        <RenameFolderDialog
          site={session}
          folder={renamed.folder}
          onClose={() => setRenamed(undefined)}
        />
      )}
      {renamed && !renamed.folder && (
        <RenameDialog
          site={session}
          file={renamed}
          mayReplace={mayReplace}
          isKept={isKept}
          onClose={() => setRenamed(undefined)}
        />
      )}
      {versioned && (
        <VersionsDialog
          key={versioned.name}
          site={session}
          file={versioned}
          mayRead={mayRead}
          mayRestore={mayRestore && mayReplace}
          onClose={() => setVersioned(undefined)}
        />
      )}
      {toConfirm && (
        <DeleteDialog
          count={toConfirm.length}
          isRestorable={isKept && mayRestore}
          onDelete={() => deletions.delete(toConfirm)}
          onClose={() => setToConfirm(undefined)}
        />
      )}
      {isEndingLinks && (
        <EndLinksDialog connection={connection} onClose={() => setEndingLinks(false)} />
      )}
      {isAsking && (
        <UploadLinkDialog
          connection={connection}
          onEndLinks={onEndLinks}
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}

/** The thumbnails of this visit; none if the login may not read files. */
function useThumbnails(connection: Connection, mayRead: boolean): Thumbnails {
  const thumbnails = useMemo(
    () =>
      createThumbnails(async (file, signal) => {
        if (!mayRead) return undefined
        const content = await readFile(connection, file, { signal })
        return drawThumbnail(new Blob([content], { type: harmlessType(file.type) }))
      }),
    [connection, mayRead],
  )
  useEffect(() => () => thumbnails.clear(), [thumbnails])
  return thumbnails
}

/** Runs `act` with the files that are entries of these names, or below them; what is missing of the folders is loaded first. */
async function withEntries(
  { files, ended }: Pick<Session, 'files' | 'ended'>,
  names: ReadonlySet<string>,
  act: (all: readonly ViewedFile[]) => void,
): Promise<void> {
  for (const prefix of selectedFolders(names)) {
    try {
      await files.loadFolder(prefix)
    } catch (error) {
      // The next user must not see the name.
      if (ended.aborted) return
      notifyError(`${t('folderFailed', { name: folderTitle(prefix) })} ${explainError(error)}`)
      return
    }
  }
  act(selectedFiles(files.all.value, names))
}

/** Keeps the address of the page and the list that is shown together. */
function useAddress({ filter }: ListedFiles): void {
  useEffect(() => followHistory(), [])
  useEffect(() => {
    const read = effect(() => void (filter.value = address.value.filter))
    const write = effect(() => {
      if (filter.value !== address.peek().filter) changeAddress({ filter: filter.value })
    })
    return () => {
      read()
      write()
    }
  }, [filter])
}

/** Shows who is signed in, the settings, and how to sign out. The browser opens and closes it. */
function AccountMenu({
  session,
  onEndLinks,
}: {
  readonly session: Session
  /** Left out if links cannot be ended. */
  readonly onEndLinks: (() => void) | undefined
}): JSX.Element {
  const { customer } = session.connection
  const leave = () => {
    if (!session.uploads.isBusy.value || confirm(t('signOutBusy'))) signOut()
  }
  return (
    <div class="account">
      <button
        type="button"
        class="icon-button"
        popovertarget="account-menu"
        aria-label={t('account')}
        title={t('account')}
      >
        <Icon of={CircleUser} size={22} />
      </button>
      <div id="account-menu" class="menu" popover="auto">
        <p class="menu-name">{t('signedInAs', { name: customer })}</p>
        <UsageMeter files={session.files} />
        <Preferences />
        {onEndLinks && (
          <button
            type="button"
            class="button"
            popovertarget="account-menu"
            popovertargetaction="hide"
            onClick={onEndLinks}
          >
            <Icon of={Unlink} />
            {t('endLinks')}
          </button>
        )}
        <button type="button" class="button" onClick={leave}>
          <Icon of={LogOut} />
          {t('signOut')}
        </button>
      </div>
    </div>
  )
}

/** How much of the quota is used, and what is kept beside it; nothing if the server does not report it. */
function UsageMeter({ files }: { readonly files: FileList }): JSX.Element | null {
  const usage = files.usage.value
  if (usage === undefined) return null
  const { bytes, quota, kept } = usage
  const used = formatSize(bytes, language.value)
  const isShort = quota !== undefined && bytes > 0.9 * quota
  return (
    <div class={isShort ? 'usage usage-short' : 'usage'}>
      {quota === undefined ? (
        <p>{t('usage', { used })}</p>
      ) : (
        <>
          <p>{t('usageOf', { used, quota: formatSize(quota, language.value) })}</p>
          <progress value={bytes} max={quota} aria-label={t('usageLabel')} />
        </>
      )}
      {kept && kept.versions > 0 && (
        <p class="usage-kept">
          {t('usageKept', {
            count: formatCount(kept.versions, language.value),
            size: formatSize(kept.bytes, language.value),
          })}
        </p>
      )}
    </div>
  )
}

/** The most files that are deleted without a question. */
const mostUnasked = 100

interface DeleteDialogProps {
  readonly count: number
  readonly isRestorable: boolean
  readonly onDelete: () => void
  readonly onClose: () => void
}

/** Asks whether to delete so many files. */
function DeleteDialog(props: DeleteDialogProps): JSX.Element {
  const { count, isRestorable, onDelete, onClose } = props
  const confirm = () => {
    onClose()
    onDelete()
  }
  return (
    <Dialog title={plural('deleteAsk', count)} class="delete" onClose={onClose}>
      <p>{t(isRestorable ? 'deleteAskKept' : 'deleteAskLead')}</p>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={onClose}>
          {t('keepFiles')}
        </button>
        <button
          type="button"
          class={isRestorable ? 'button button-main' : 'button button-danger'}
          onClick={confirm}
        >
          {t('delete')}
        </button>
      </div>
    </Dialog>
  )
}
