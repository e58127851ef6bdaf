import type { JSX } from 'preact'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import type { FileDetails } from '@holdfast/client/browser'
import { LinkDialog } from '../links/link-dialog.tsx'
import { UploadLinkDialog } from '../links/upload-link-dialog.tsx'
import { DeleteDialog, mostUnasked } from '../list/delete-dialog.tsx'
import { download } from '../list/download.ts'
import { downloadZip } from '../list/download-zip.ts'
import { EmptyList } from '../list/empty-list.tsx'
import { FileGrid } from '../list/file-grid.tsx'
import { FilterField } from '../list/filter-field.tsx'
import { StatusLine } from '../list/status-line.tsx'
import { PreviewDialog } from '../preview/preview-dialog.tsx'
import type { NamedFile } from '../uploads/collect-files.ts'
import { ConflictDialog } from '../uploads/conflict-dialog.tsx'
import { DropZone } from '../uploads/drop-zone.tsx'
import { UploadButtons } from '../uploads/upload-buttons.tsx'
import { UploadPanel } from '../uploads/upload-panel.tsx'
import { AccountMenu } from './account-menu.tsx'
import { Logo } from './logo.tsx'
import type { Session } from './session.ts'

/** What a customer who has signed in works with. */
export function FilesPage({ session }: { readonly session: Session }): JSX.Element {
  const { files, uploads, deletions } = session
  const [opened, setOpened] = useState<FileDetails>()
  const [linked, setLinked] = useState<FileDetails>()
  const [isAsking, setAsking] = useState(false)
  const add = useCallback((added: readonly NamedFile[]) => uploads.add(added), [uploads])
  const [doubtful, setDoubtful] = useState<readonly string[]>()
  const deleteAll = (chosen: readonly FileDetails[]) => {
    const names = chosen.map(({ name }) => name)
    if (names.length > mostUnasked) setDoubtful(names)
    else deletions.delete(names)
  }
  const actions = useMemo(
    () => ({
      open: setOpened,
      download: (file: FileDetails) => void download(session, [file]),
      link: session.hasLinks ? setLinked : undefined,
      delete: ({ name }: FileDetails) => deletions.delete([name]),
    }),
    [session],
  )
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
        <FilterField files={files} />
        <UploadButtons onFiles={add} />
        <AccountMenu session={session} />
      </header>
      <main class="main" tabIndex={-1}>
        <StatusLine
          files={files}
          onDownload={(chosen) => void download(session, chosen)}
          onDownloadZip={(chosen) => void downloadZip(session.connection, chosen)}
          onDelete={deleteAll}
          onAsk={session.hasLinks ? () => setAsking(true) : undefined}
        />
        {files.visible.value.length > 0 ? (
          <FileGrid files={files} actions={actions} />
        ) : (
          <EmptyList files={files} />
        )}
      </main>
      <UploadPanel uploads={uploads} />
      <DropZone onFiles={add} />
      <ConflictDialog uploads={uploads} />
      {opened && (
        <PreviewDialog
          session={session}
          file={opened}
          actions={actions}
          onClose={() => setOpened(undefined)}
        />
      )}
      {linked && (
        <LinkDialog session={session} file={linked} onClose={() => setLinked(undefined)} />
      )}
      {doubtful && (
        <DeleteDialog
          count={doubtful.length}
          onDelete={() => deletions.delete(doubtful)}
          onClose={() => setDoubtful(undefined)}
        />
      )}
      {isAsking && <UploadLinkDialog session={session} onClose={() => setAsking(false)} />}
    </div>
  )
}
