const head = /^HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n/

/**
 * The statuses of the answers that these bytes are, a character a byte, but for 100.
 * @throws Error where there is anything else
 */
export function statusesIn(bytes: string): readonly number[] {
  const statuses: number[] = []
  let rest = bytes
  while (rest !== '') {
    const match = head.exec(rest)
    if (match === null) throw new Error(`No answer: ${JSON.stringify(rest.slice(0, 200))}`)
    const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(match[0])?.[1] ?? 0)
    const behind = rest.slice(match[0].length)
    // The answer to HEAD announces what does not come.
    rest = behind.startsWith('HTTP/1.1 ') || behind === '' ? behind : behind.slice(length)
    if (match[1] !== '100') statuses.push(Number(match[1]))
  }
  return statuses
}
