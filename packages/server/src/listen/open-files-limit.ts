import { readFile } from 'node:fs/promises'

/** How many files and connections this process may have open; `undefined` where the system does not say, as Linux does. */
export async function openFilesLimit(): Promise<number | undefined> {
  // Node.js has raised the soft limit to the hard one.
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '')
  const [, limit] = /^Max open files +(\d+|unlimited)/m.exec(limits) ?? []
  return limit === undefined ? undefined : Number(limit.replace('unlimited', 'Infinity'))
}
