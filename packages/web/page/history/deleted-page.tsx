import { ArrowLeft, ArchiveRestore, Download, FileArchive, RefreshCw, Undo2 } from 'lucide'
import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { CustomerAccess, ViewedFile } from '../api/connection.ts'
import { address, formatAddress } from '../browser/address.ts'
import { plural, t } from '../i18n/language.ts'
import { download, downloadZip } from '../list/download.ts'
import { EmptyList, FileGrid } from '../list/file-grid.tsx'
import type { FileList } from '../list/file-list-state.ts'
import { FileCount, SelectionTools, type SelectionTool } from '../list/toolbar.tsx'
import { Icon, IconButton } from '../parts/icon.tsx'
import { closeFile, openFile, useOpenedFile, PreviewDialog } from '../preview/preview-dialog.tsx'
import type { DeletedList } from './deleted-list.ts'
import type { Restores } from './restores.ts'

const gridTexts = { label: 'deletedFiles', moment: 'columnDeleted', hint: 'deletedHint' } as const

interface DeletedPageProps {
  readonly site: DeletedSite
  readonly mayRead: boolean
  readonly mayRestore: boolean
}

interface DeletedSite extends CustomerAccess {
  readonly files: Pick<FileList, 'deletingCount'>
  readonly deleted: DeletedList
  readonly restores: Pick<Restores, 'restore'>
}

/** The deleted files, in place of the present ones: to look at, download and restore. */
export function DeletedPage({ site, mayRead, mayRestore }: DeletedPageProps): JSX.Element {
  const { deleted, restores } = site
  const opened = useOpenedFile(deleted, true)
  const deletingCount = site.files.deletingCount.value
  const isDeleting = deletingCount > 0
  const isEmpty = deleted.all.value.length === 0
  useEffect(() => {
    // The list is complete only when the deletions that could be undone have ended.
    void deleted.load()
  }, [deleted, isDeleting])
  useEffect(() => () => deleted.close(), [deleted])
  const actions = useMemo(
    () => ({
      open: mayRead ? openFile : undefined,
      download: mayRead ? (file: ViewedFile) => void download(site, [file]) : undefined,
      restore: mayRestore ? (file: ViewedFile) => restores.restore([file]) : undefined,
      link: undefined,
      rename: undefined,
      versions: undefined,
      delete: undefined,
    }),
    [site, mayRead, mayRestore],
  )
  const tools: readonly SelectionTool[] = [
    ...(mayRestore ? [{ icon: Undo2, label: 'restore', run: restores.restore } as const] : []),
    ...(mayRead
      ? ([
          {
            icon: Download,
            label: 'download',
            run: (chosen) => void download(site, chosen),
          },
          {
            icon: FileArchive,
            label: 'downloadZip',
            isForSeveral: true,
            run: (chosen) => void downloadZip(site, chosen),
          },
        ] satisfies readonly SelectionTool[])
      : []),
  ]
  return (
    <main class="main main-deleted" tabIndex={-1}>
      <DeletedHead />
      <SelectionTools files={deleted} tools={tools}>
        <div key="count" class="status">
          <FileCount
            files={deleted}
            note={isDeleting && !isEmpty ? plural('beingDeleted', deletingCount) : undefined}
          />
          <IconButton icon={RefreshCw} label={t('reload')} onClick={() => void deleted.load()} />
        </div>
      </SelectionTools>
      {deleted.visible.value.length > 0 ? (
        <FileGrid files={deleted} actions={actions} texts={gridTexts} />
      ) : (
        <EmptyList files={deleted}>
          <div class="empty empty-new">
            <Icon of={ArchiveRestore} size={48} />
            <h2>{isDeleting ? plural('beingDeleted', deletingCount) : t('noDeleted')}</h2>
            <p>{t('noDeletedHint')}</p>
          </div>
        </EmptyList>
      )}
      {opened && mayRead && (
        <PreviewDialog
          access={site}
          shown={deleted.visible.value}
          file={opened}
          moment="deletedAt"
          actions={actions}
          isInAddress
          onClose={closeFile}
        />
      )}
    </main>
  )
}

/** Says where the user is, and leads back. It gets the focus first, so that a screen reader says so. */
function DeletedHead(): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus(), [])
  const { folder } = address.value
  const back = formatAddress({ folder, isDeleted: false, filter: '', file: undefined }) || '#'
  return (
    <div class="deleted-head">
      <a class="icon-button" href={back} aria-label={t('backToFiles')} title={t('backToFiles')}>
        <Icon of={ArrowLeft} />
      </a>
      <h2 ref={heading} tabIndex={-1}>
        {t('deletedFiles')}
      </h2>
    </div>
  )
}
