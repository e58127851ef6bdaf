#!/usr/bin/env node
// Four threads, Node's default, are soon taken: two by passwords being checked, the others by a few files being synced to a slow disk.
// Counts only if set before the first use of the pool, hence before anything is imported.
process.env.UV_THREADPOOL_SIZE ||= '16'

const { main } = await import('../dist/cli/main.js')
process.exitCode = await main(process.argv.slice(2))
