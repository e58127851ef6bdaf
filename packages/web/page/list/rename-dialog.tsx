import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isHoldfastError, type FileDetails } from '@holdfast/client/browser'
import type { Connection } from '../api/connection.ts'
import { afterTime } from '../browser/after-time.ts'
import { splitExtension } from '../i18n/format.ts'
import { t } from '../i18n/language.ts'
import { Dialog } from '../parts/dialog.tsx'
import { explainError } from '../parts/explain-error.ts'
import { notify, notifyError } from '../parts/notices.ts'
import type { FileList } from './file-list-state.ts'

/** How long the notice offers to take a rename back, in milliseconds. */
const shownMs = 10_000

interface RenameDialogProps {
  readonly connection: Connection
  readonly files: Pick<FileList, 'add' | 'remove' | 'refreshUsage'>
  readonly file: FileDetails
  readonly onClose: () => void
}

/** Asks for the new name of a file, and asks again before another file is replaced. */
export function RenameDialog(props: RenameDialogProps): JSX.Element {
  const { connection, files, file, onClose } = props
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
      await rename(connection, files, file.name, name, isTaken)
      onClose()
      const undo = () => void renameBack(connection, files, file.name, name)
      const dismiss = notify({
        text: t('renamed', { from: file.name, name }),
        isError: false,
        action: { label: t('undo'), run: undo },
      })
      afterTime(shownMs, dismiss)
    } catch (failure) {
      setBusy(false)
      if (isHoldfastError(failure, 'already-exists')) setTaken(name)
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
          {isTaken ? `${t('nameTakenLead', { name })} ${t('replaceHint')}` : error}
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
  { client }: Connection,
  files: RenameDialogProps['files'],
  from: string,
  to: string,
  mayReplace: boolean,
): Promise<void> {
  await client.rename(from, to, { createOnly: !mayReplace })
  files.remove(from)
  files.add(await client.stat(to))
  files.refreshUsage()
}

/** Takes a rename back. A file that has the earlier name by now stays. */
async function renameBack(
  connection: Connection,
  files: RenameDialogProps['files'],
  from: string,
  to: string,
): Promise<void> {
  try {
    await rename(connection, files, to, from, false)
  } catch (error) {
    const isTaken = isHoldfastError(error, 'already-exists')
    const reason = isTaken ? t('nameTakenLead', { name: from }) : explainError(error)
    notifyError(`${t('renameFailed', { name: to })} ${reason}`)
  }
}
