/** `value` as JavaScript in ASCII; bytes as a string of Latin-1, a character each, behind `latin1`. */
export function escaped(value: unknown): string {
  if (value instanceof Uint8Array) return `latin1${quoted(Buffer.from(value).toString('latin1'))}`
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map(escaped).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const fields = Object.entries(value).map(([key, each]) => `${key}: ${escaped(each)}`)
  return `{ ${fields.join(', ')} }`
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(/[^ -~]/g, (character) => {
    const code = character.charCodeAt(0).toString(16)
    return code.length < 3 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`
  })
}
