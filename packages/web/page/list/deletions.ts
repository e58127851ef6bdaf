import { ApiError } from '../api/api-error.ts'
import type { Connection } from '../api/connection.ts'
import { deleteFile } from '../api/files.ts'
import { explainError } from '../app/explain-error.ts'
import { notify, notifyError } from '../app/notices.ts'
import { plural, t } from '../i18n/language.ts'
import type { FileList } from './file-list-state.ts'

const undoMs = 5000

/** Deletes files, after the time in which that can be undone. */
export interface Deletions {
  delete(names: readonly string[]): void
  /** Deletes at once what still could be undone. */
  finish(): void
}

interface Context {
  readonly files: Pick<FileList, 'hide' | 'show'>
  readonly onIdle: () => void
}

export function createDeletions(connection: Connection, { files, onIdle }: Context): Deletions {
  const pending = new Map<() => void, readonly string[]>()

  /** What could not be deleted comes back into the list. */
  async function send(names: readonly string[], keepalive: boolean): Promise<void> {
    for (const name of names) {
      try {
        await deleteFile(connection, name, { keepalive })
      } catch (error) {
        if (error instanceof ApiError && error.message === 'File not found') continue
        files.show([name])
        notifyError(`${t('deleteFailed', { name })} ${explainError(error)}`)
      }
    }
    onIdle()
  }

  function finish(): void {
    for (const [forget, names] of [...pending]) {
      forget()
      // The page may be about to go.
      for (const name of names) void send([name], true)
    }
  }
  addEventListener('pagehide', finish)

  return {
    finish,
    delete(names) {
      files.hide(names)
      const [only = ''] = names
      const dismiss = notify({
        text:
          names.length === 1
            ? t('deletedOne', { name: only })
            : plural('deletedMany', names.length),
        isError: false,
        action: {
          label: t('undo'),
          run: () => {
            forget()
            files.show(names)
          },
        },
      })
      const timer = setTimeout(() => {
        forget()
        void send(names, false)
      }, undoMs)
      const forget = () => {
        clearTimeout(timer)
        pending.delete(forget)
        dismiss()
      }
      pending.set(forget, names)
    },
  }
}
