/**
 * Refuses a Node.js that is too old before it fails in the midst of an upload.
 *
 * @throws Error that names the version that is needed, and this one
 */
export function requireRuntime(): void {
  // What Node.js 22 has, and older ones have not. Bun and Deno have it, whatever version of Node they call themselves.
  if (typeof (Promise as { withResolvers?: unknown }).withResolvers === 'function') return
  throw new Error(`holdfast needs Node.js 22 or newer, and this is ${process.version}`)
}
