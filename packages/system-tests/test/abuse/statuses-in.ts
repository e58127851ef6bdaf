import { framingOf, parseHead } from '@holdfast/testing'

/**
 * The statuses of the answers that these bytes are, a character a byte, but for 100.
 * @throws Error where there is anything else
 */
export function statusesIn(bytes: string): readonly number[] {
  const statuses: number[] = []
  let rest = Buffer.from(bytes, 'latin1')
  while (rest.length > 0) {
    const head = parseHead(rest)
    if (head === undefined || Number.isNaN(head.status)) {
      throw new Error(`No answer: ${JSON.stringify(rest.toString('latin1', 0, 200))}`)
    }
    const framing = framingOf(head, false)
    rest = rest.subarray(head.size)
    // The answer to HEAD announces what does not come.
    const isToHead = rest.length === 0 || rest.toString('latin1', 0, 9) === 'HTTP/1.1 '
    if (typeof framing === 'number' && !isToHead) rest = rest.subarray(framing)
    if (head.status !== 100) statuses.push(head.status)
  }
  return statuses
}
