/**
 * A copy of `document` with what its references point to in their place. References are pointers into the document
 * (RFC 6901), and none leads back to where it stands.
 *
 * @throws Error for a reference that leads nowhere
 */
export function dereference(document: unknown): unknown {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy)
    if (!isRecord(value)) return value
    const { $ref } = value
    if (typeof $ref === 'string') return copy(resolve(document, $ref))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copy(each)]))
  }
  return copy(document)
}

function resolve(document: unknown, reference: string): unknown {
  const [, ...keys] = reference.split('/')
  return keys.reduce((value, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isRecord(value) || !(name in value)) throw new Error(`${reference} leads nowhere`)
    return value[name]
  }, document)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
