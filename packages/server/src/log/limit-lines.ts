export interface LineLimit {
  /** Whether the next one gets a line; if not, it is counted. */
  readonly admit: () => boolean
  /** Reports at once what was counted, as at the end of the time. */
  readonly flush: () => void
}

export interface LineLimitOptions {
  /** How many get a line within `windowMs`. */
  readonly perWindow: number
  /** From the first one on, in milliseconds. */
  readonly windowMs: number
  /** Called at its end with how many got no line, if there are any. */
  readonly onOmitted: (count: number) => void
}

/** Bounds lines that clients could otherwise write without end. */
export function createLineLimit({ perWindow, windowMs, onOmitted }: LineLimitOptions): LineLimit {
  let admitted = 0
  let omitted = 0
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    admitted = 0
    if (omitted > 0) onOmitted(omitted)
    omitted = 0
  }
  return {
    admit() {
      timer ??= setTimeout(flush, windowMs).unref()
      if (admitted < perWindow) return ++admitted > 0
      omitted++
      return false
    },
    flush,
  }
}
