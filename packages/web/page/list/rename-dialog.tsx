import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isHoldfastError, type FileDetails } from '@holdfast/client/browser'
import type { Connection } from '../api/connection.ts'
import { afterTime } from '../browser/after-time.ts'
import { shortName, splitExtension } from '../i18n/format.ts'
import { t } from '../i18n/language.ts'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import { notify, notifyError } from '../parts/notices.ts'
import type { Deletions } from './deletions.ts'
import type { FileList } from './file-list-state.ts'

/** How long the notice offers to take a rename back, in milliseconds. */
const shownMs = 10_000

interface RenameDialogProps {
  readonly site: RenameSite
  readonly file: FileDetails
  /** Whether the login may replace a file of the new name. */
  readonly mayReplace: boolean
  /** Whether a file that is replaced can be restored. */
  readonly isKept: boolean
  readonly onClose: () => void
}

/** What a rename changes. */
interface RenameSite {
  readonly connection: Connection
  readonly files: Pick<FileList, 'rename' | 'load' | 'refreshUsage' | 'expect'>
  readonly deletions: Pick<Deletions, 'finishDeletion' | 'cancelDeletion'>
}

/** Asks for the new name of a file, and asks again before another file is replaced. */
export function RenameDialog(props: RenameDialogProps): JSX.Element {
  const { site, file, mayReplace, isKept, onClose } = props
  const [name, setName] = useState(file.name)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  /** The name that is known to be taken. */
  const [taken, setTaken] = useState<string>()
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.setSelectionRange(0, splitExtension(file.name)[0].length)
  }, [])
  const isTaken = taken === name
  const submit = async (event: Event) => {
    event.preventDefault()
    if (name === file.name) return onClose()
    setBusy(true)
    setError(undefined)
    try {
      await rename(site, file.name, name, isTaken)
      onClose()
      const undo = () => void renameBack(site, file.name, name)
      const dismiss = notify({
        text: t('renamed', { from: shortName(file.name), name: shortName(name) }),
        isError: false,
        // A rename back would not restore the file that was replaced.
        ...(!isTaken && { action: { label: t('undo'), run: undo } }),
      })
      afterTime(shownMs, dismiss)
    } catch (failure) {
      setBusy(false)
      // The server may have renamed it.
      if (isHoldfastError(failure, 'no-answer')) void site.files.load()
      if (isHoldfastError(failure, 'already-exists') && mayReplace) setTaken(name)
      else if (isHoldfastError(failure, 'already-exists')) setError(t('nameTakenLead', { name }))
      else if (isHoldfastError(failure, 'invalid-field')) setError(t('errorName'))
      else setError(explainError(failure))
    }
  }
  return (
    <Dialog title={t('renameFile', { name: file.name })} class="rename" onClose={onClose}>
      <form class="rename-form" onSubmit={(event) => void submit(event)}>
        <label class="field">
          <span>{t('newName')}</span>
          <input
            ref={field}
            value={name}
            required
            spellcheck={false}
            autocomplete="off"
            aria-describedby="rename-problem"
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <p id="rename-problem" role="alert" class="form-error">
          {isTaken
            ? `${t('nameTakenLead', { name })} ${t(isKept ? 'replaceKeptHint' : 'replaceHint')}`
            : error}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t('keepName')}
          </button>
          <button
            type="submit"
            class={isTaken ? 'button button-danger' : 'button button-main'}
            disabled={isBusy}
          >
            {t(isTaken ? 'replace' : 'rename')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** Renames the file, and shows that in the list. */
async function rename(
  { connection: { client }, files, deletions }: RenameSite,
  from: string,
  to: string,
  mayReplace: boolean,
): Promise<void> {
  // A deletion of that name which can still be undone would later delete the renamed file.
  await deletions.finishDeletion(to)
  files.expect(to)
  await client.rename(from, to, { createOnly: !mayReplace })
  deletions.cancelDeletion(to)
  try {
    files.rename(from, await client.stat(to))
    files.refreshUsage()
  } catch {
    // The rename is done; the list says what is there now, or why it cannot.
    void files.load()
  }
}

/** Takes a rename back. A file that has the earlier name by now stays. */
async function renameBack(site: RenameSite, from: string, to: string): Promise<void> {
  try {
    await rename(site, to, from, false)
  } catch (error) {
    const isTaken = isHoldfastError(error, 'already-exists')
    const reason = isTaken ? t('nameTakenLead', { name: shortName(from) }) : explainError(error)
    notifyError(`${t('renameFailed', { name: shortName(to) })} ${reason}`)
  }
}
