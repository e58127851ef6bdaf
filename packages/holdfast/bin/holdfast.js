#!/usr/bin/env node
// Four threads, Node's default, are soon taken: two by passwords being checked, the others by a few files being synced to a slow disk.
// Counts only if set before the first use of the pool, hence before anything is imported.
process.env.UV_THREADPOOL_SIZE ||= '16'

const { node } = process.versions
if (Number.parseInt(node) >= 22) {
  const { keepCompiled } = await import('../dist/keep-compiled.js')
  keepCompiled(new URL('../', import.meta.url))
  const { main } = await import('../dist/main.js')
  process.exitCode = await main(process.argv.slice(2))
} else {
  // An older one would get some way, and fail where a password has been made already.
  process.stderr.write(`holdfast: Node.js ${node} is too old; run it with version 22 or newer.\n`)
  process.exitCode = 1
}
