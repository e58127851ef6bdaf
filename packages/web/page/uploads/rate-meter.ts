/** How fast all uploads together are. */
export interface RateMeter {
  /** Takes the progress of one upload, as the bytes that it has sent so far. */
  meter(): (sent: number) => void
  /** Bytes a second, of the last seconds. */
  perSecond(): number
}

const windowMs = 5000

export function createRateMeter(now: () => number = () => performance.now()): RateMeter {
  let samples: { at: number; bytes: number }[] = []
  return {
    meter() {
      let last: number | undefined
      return (sent) => {
        const at = now()
        // What an earlier attempt has sent is not of now.
        const bytes = last === undefined ? 0 : Math.max(0, sent - last)
        last = sent
        samples = [...samples.filter((sample) => at - sample.at < windowMs), { at, bytes }]
      }
    },
    perSecond() {
      const at = now()
      const recent = samples.filter((sample) => at - sample.at < windowMs)
      const [first] = recent
      if (!first) return 0
      const bytes = recent.reduce((sum, sample) => sum + sample.bytes, 0)
      return bytes / Math.max(0.5, (at - first.at) / 1000)
    },
  }
}
