/** What `process` of Node has, where there is one. */
interface NodeProcess {
  readonly version?: string
}

/**
 * Refuses a JavaScript that is too old, before it fails in the midst of an upload. What is looked for came with Node.js 22; Bun and
 * Deno call themselves other versions of Node than what they can do.
 *
 * @throws Error that names the version that is needed, and this one
 */
export function requireRuntime(): void {
  if (typeof (Promise as { withResolvers?: unknown }).withResolvers === 'function') return
  const { process } = globalThis as { readonly process?: NodeProcess }
  const found = process?.version === undefined ? '' : `, and this is ${process.version}`
  throw new Error(`holdfast needs Node.js 22 or newer${found}`)
}
