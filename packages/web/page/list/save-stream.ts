/** Where browsers can write a file as it comes: Chromium's, over HTTPS or from this machine. */
interface SavingWindow {
  showSaveFilePicker?: (options: {
    readonly suggestedName: string
    readonly types: readonly { readonly accept: Readonly<Record<string, readonly string[]>> }[]
  }) => Promise<FileSystemFileHandle>
}

/** Takes a stream to a file that the user has chosen. */
export type SaveStream = (
  content: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
) => Promise<void>

/** Whether the browser writes to the disk what does not fit into the memory. */
export const canSaveStreams = () => 'showSaveFilePicker' in window

/**
 * Asks where to save a ZIP. The file is there when all of it is; what breaks off leaves an older one as it was.
 * `undefined` if the user has changed their mind.
 */
export async function askWhereToSave(suggestedName: string): Promise<SaveStream | undefined> {
  const types = [{ accept: { 'application/zip': ['.zip'] } }]
  const handle = await (window as SavingWindow)
    .showSaveFilePicker?.({ suggestedName, types })
    .catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'AbortError') return undefined
      throw error
    })
  if (!handle) return undefined
  return async (content, signal) => content.pipeTo(await handle.createWritable(), { signal })
}
