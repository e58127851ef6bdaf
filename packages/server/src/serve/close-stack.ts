interface Closable {
  close(): Promise<void>
}

export interface CloseStack {
  /** Waits for `opening`; if it fails, closes everything that was opened before. */
  readonly open: <Opened extends Closable | undefined>(opening: Promise<Opened>) => Promise<Opened>
  /** Closes everything that was opened, the last one first. */
  readonly closeAll: () => Promise<void>
}

/** Makes a {@link CloseStack}, for things that are opened one after the other and closed together. */
export function createCloseStack(): CloseStack {
  const opened: Closable[] = []
  const closeAll = async () => {
    for (const each of opened.splice(0).reverse()) await each.close()
  }
  return {
    async open(opening) {
      try {
        const each = await opening
        if (each) opened.push(each)
        return each
      } catch (error) {
        await closeAll()
        throw error
      }
    },
    closeAll,
  }
}
