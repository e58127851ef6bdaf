import { AppendError, openAppendable, type Appendable } from './appendable.ts'
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

const lineFeed = 0x0a

/**
 * Opens a {@link TrailFile}; rejects if that is impossible. A file that is moved or removed is noticed before the next
 * line, which goes into a new one. Where there can be no new one, lines go on into the one that was moved.
 */
export async function openTrailFile(
  path: string,
  { onFailure, onRecovery }: TrailFileEvents,
  open: (path: string) => Promise<Appendable> = openAppendable,
): Promise<TrailFile> {
  let file: Appendable | undefined = await open(path)
  let isStale = false
  let isClosed = false
  let isTorn = false
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
    // What a full disk has left of a line must not become the beginning of the next one.
    const bytes = Buffer.from((isTorn ? '\n' : '') + all.join(''))
    try {
      const current = await currentFile()
      // The reader has taken nothing for so long: do not wait for it again, since all answers would wait, too.
      await current.append(bytes, lost === 0)
      if (lost > 0) onRecovery(lost)
      lost = 0
      isTorn = false
    } catch (error) {
      const written = bytes.subarray(0, error instanceof AppendError ? error.written : 0)
      const whole = Math.max(0, countLines(written) - (isTorn ? 1 : 0))
      lost = whole === 0 ? lost + lines.length : all.length - whole
      if (written.length > 0) isTorn = written.at(-1) !== lineFeed
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

function countLines(bytes: Uint8Array): number {
  return bytes.filter((byte) => byte === lineFeed).length
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
