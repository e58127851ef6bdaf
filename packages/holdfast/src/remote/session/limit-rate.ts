import { setTimeout } from 'node:timers/promises'
import { createThrottledTransport, type Transport } from '@holdfast/client'
import { parseByteSize } from '@holdfast/core'

/**
 * A transport that moves at most `bytesPerSecond` up and down together, over all requests of the command: a token bucket that holds a quarter
 * of a second.
 */
export function limitRate(bytesPerSecond: number): Transport {
  let readyAt = performance.now()
  const burstMs = 250
  return createThrottledTransport({
    largestChunk: Math.max(512, Math.floor(bytesPerSecond / 8)),
    async wait(bytes, signal) {
      const now = performance.now()
      readyAt = Math.max(readyAt, now - burstMs) + (bytes / bytesPerSecond) * 1000
      if (readyAt > now) await setTimeout(readyAt - now, undefined, { signal })
    },
  })
}

/**
 * Bytes in a second, such as `2M`, `500k` or `2 MiB`.
 *
 * @throws RangeError
 */
export function parseRate(text: string): number {
  const rate = parseByteSize(/[kKMGT]$/.test(text) ? `${text}B` : text)
  if (rate >= 1) return rate
  throw new RangeError('is less than a byte in a second')
}
