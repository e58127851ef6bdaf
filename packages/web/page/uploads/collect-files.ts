import { nameFromPath } from '@holdfast/client/browser'

export interface NamedFile {
  readonly file: File
  readonly name: string
}

/** The files that were dropped, those in folders too. */
export async function droppedFiles(transfer: DataTransfer): Promise<readonly NamedFile[]> {
  // Read at once, since the browser empties it after the event.
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  if (entries.length === 0) return chosenFiles(transfer.files)
  const found: NamedFile[] = []
  for (const entry of entries) await collect(entry, found)
  return found
}

/** The files of an input; of a folder's input with the folder. */
export function chosenFiles(files: Iterable<File>): readonly NamedFile[] {
  return [...files].map((file) => ({
    file,
    name: nameFromPath(file.webkitRelativePath === '' ? file.name : file.webkitRelativePath),
  }))
}

async function collect(entry: FileSystemEntry, found: NamedFile[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => {
      ;(entry as FileSystemFileEntry).file(resolve, reject)
    })
    found.push({ file, name: nameFromPath(entry.fullPath) })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  // It gives a hundred at a time, and then none.
  while (true) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject)
    })
    if (some.length === 0) return
    for (const each of some) await collect(each, found)
  }
}
