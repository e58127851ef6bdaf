import { readdir as readDirectory, readFile as readFileOfDisk } from 'node:fs/promises'
import { embeddedFile, embeddedNames } from './embedded-file.ts'

export * from 'node:fs/promises'

/** Reads from the executable, too. */
export async function readFile(path: string): Promise<Buffer> {
  return embeddedFile(path) ?? (await readFileOfDisk(path))
}

/** Lists what is in the executable, too. */
export async function readdir(path: string): Promise<string[]> {
  return embeddedNames(path) ?? (await readDirectory(path))
}
