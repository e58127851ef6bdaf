const lineLength = 64

/**
 * `size` bytes that say in every line of what version they are and where they stand, so that a piece of another version,
 * or a piece in the wrong place, shows. The same buffer for the same arguments: do not change it.
 */
export function patternedContent(version: string, size: number): Buffer {
  const key = `${version} ${size}`
  const content = made.get(key) ?? makeContent(version, size)
  made.set(key, content)
  return content
}

/** Hundreds of servers get the same contents. */
const made = new Map<string, Buffer>()

function makeContent(version: string, size: number): Buffer {
  const lines = Math.ceil(size / lineLength)
  const text = Array.from({ length: lines }, (_, line) =>
    `${version} of ${size} bytes, from ${line * lineLength} on `.padEnd(lineLength - 1, '.'),
  )
  return Buffer.from(`${text.join('\n')}\n`).subarray(0, size)
}

/** What is wrong with `found` where `wanted` should be; `undefined` if nothing is. */
export function difference(found: Buffer, wanted: Buffer): string | undefined {
  if (found.equals(wanted)) return undefined
  const at = found.findIndex((byte, index) => byte !== wanted[index])
  const line = (at < 0 ? wanted.length : at) - (at % lineLength)
  const show = (bytes: Buffer) => JSON.stringify(bytes.toString('latin1', line, line + lineLength))
  return `${found.length} bytes for ${wanted.length}; at ${at} ${show(found)} for ${show(wanted)}`
}
