import { inspectDataDirectory } from '../../src/inspect/inspect-data-directory.ts'

/** Inspects a directory and prints a finding a line; behind one whose check is `stallAt` it looks no further. */
const [directory = '', stallAt] = process.argv.slice(2)
for await (const found of inspectDataDirectory({ directory })) {
  console.log(JSON.stringify(found))
  if (found.check === stallAt) await new Promise(() => setInterval(() => {}, 1000))
}
