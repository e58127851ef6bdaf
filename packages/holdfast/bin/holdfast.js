#!/usr/bin/env node
// Node's default, four threads, is soon used up: some check passwords, and the others sync a few files to a slow disk.
// The setting must be made before the first use of the pool, so before any import.
process.env.UV_THREADPOOL_SIZE ||= '16'

const { node } = process.versions
if (Number.parseInt(node) >= 22) {
  // Call it before the program is loaded, which makes V8 take more memory.
  const { spareMemory, keepCompiled } = await import('../dist/prepare-node.js')
  spareMemory(process.argv[2])
  keepCompiled(new URL('../', import.meta.url))
  const { main } = await import('../dist/main.js')
  process.exitCode = await main(process.argv.slice(2))
} else {
  // An older Node.js would fail later, after the command has made a password.
  process.stderr.write(`holdfast: Node.js ${node} is too old; run it with version 22 or newer.\n`)
  process.exitCode = 1
}
