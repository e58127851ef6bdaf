import { createAppendLines } from '../log/append-lines.ts'
import { openAppendable, type Appendable } from './appendable.ts'
import { formatOmission } from './format-event.ts'

/** A file that lines are added to. Never rejects: what cannot be written is counted, and the count is written later. */
export interface TrailFile {
  /** Resolves when the system has taken the line, or when it could not be written. */
  write(line: string): Promise<void>
  /** Opens the file of that name anew; `false` if that was impossible. */
  reopen(): Promise<boolean>
  /** Writes what is due and closes. What comes later opens the file once more. */
  close(): Promise<void>
}

export interface TrailFileEvents {
  /** Lines could not be written, `lost` since the last that could; or the file could not be opened anew. */
  readonly onFailure: (error: unknown, lost: number) => void
  /** Lines are written again. */
  readonly onRecovery: (lost: number) => void
}

const defaultPatienceMs = 5_000

/**
 * Opens a {@link TrailFile}; rejects if that is impossible. A file that is moved or removed is noticed before the next
 * line, which goes into a new one. Where there can be no new one, lines go on into the one that was moved. The
 * reader of a pipe that is full may take nothing for `patienceMs`.
 */
export async function openTrailFile(
  path: string,
  { onFailure, onRecovery }: TrailFileEvents,
  open: (path: string) => Promise<Appendable> = openAppendable,
  patienceMs = defaultPatienceMs,
): Promise<TrailFile> {
  const appendLines = createAppendLines()
  let file: Appendable | undefined = await open(path)
  let isStale = false
  let isClosed = false
  let lost = 0

  const currentFile = async (): Promise<Appendable> => {
    if (file !== undefined && !isStale && !(await file.isMoved())) return file
    try {
      const fresh = await open(path)
      await file?.close()
      isStale = false
      return (file = fresh)
    } catch (error) {
      if (file === undefined || (await file.isGone())) throw error
      onFailure(error, lost)
      return file
    }
  }

  const append = async (lines: readonly string[]) => {
    const all = lost > 0 ? [formatOmission(new Date(), 'unwritable', lost), ...lines] : lines
    // A reader that has taken nothing for so long is not waited for again, since all answers would wait, too.
    const patience = { giveUpAfterMs: lost === 0 ? patienceMs : 0 }
    const { lines: whole, error } = await currentFile().then(
      ({ writeSome }) => appendLines(writeSome, Buffer.from(all.join('')), patience),
      (reason: unknown) => ({ lines: 0, error: reason }),
    )
    if (error === undefined) {
      if (lost > 0) onRecovery(lost)
      lost = 0
    } else {
      lost = whole === 0 ? lost + lines.length : all.length - whole
      isStale = true
      onFailure(error, lost)
    }
  }

  const write = gatherWrites<string>(async (lines) => {
    await append(lines.filter((line) => line !== ''))
    if (!isClosed) return
    await file?.close()
    file = undefined
  })

  return {
    write,
    async reopen() {
      isStale = true
      await write('')
      return !isStale
    },
    close() {
      isClosed = true
      return write('')
    },
  }
}

/**
 * `write` for many callers: only one call of it runs at a time, and takes all that came while the one before ran. What
 * it returns resolves when the item has been written; `write` must not reject.
 */
export function gatherWrites<Item>(
  write: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
  let last = Promise.resolve()
  let next: { readonly items: Item[]; readonly written: Promise<void> } | undefined
  const start = () => {
    const items: Item[] = []
    last = last.then(() => {
      next = undefined
      return write(items)
    })
    return { items, written: last }
  }
  return (item) => {
    next ??= start()
    next.items.push(item)
    return next.written
  }
}
