interface Closable {
  close(): Promise<void>
}

export interface CloseStack {
  /** Waits for what is being opened; if that fails, everything opened before is closed. */
  readonly open: <Opened extends Closable | undefined>(opening: Promise<Opened>) => Promise<Opened>
  /** Closes everything that has been opened, the last first. */
  readonly closeAll: () => Promise<void>
}

/** For things that are opened one after the other, and closed all together. */
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
