/** Keeps workers on one port where the system has chosen it, also when all of them die at once. */
export interface KeptUrl {
  /**
   * Where the next worker is to listen. All that listen were given the same port, or the system would take theirs for
   * different ones: 0, or the chosen one after none was left that held it.
   */
  portBeside(worker: { port(): number | undefined } | undefined): number
  /** Keeps the first url. @throws Error for another one: the last worker died before this one listened */
  accept(url: string): void
}

/** A {@link KeptUrl} of workers whose port is `configured`, 0 for any. */
export function keepUrl(configured: number): KeptUrl {
  let kept: string | undefined
  return {
    portBeside(worker) {
      if (configured !== 0 || kept === undefined) return configured
      return worker?.port() ?? Number(new URL(kept).port)
    },
    accept(url) {
      kept ??= url
      if (url !== kept) throw new Error(`It listens on ${url} and not on ${kept}`)
    },
  }
}
