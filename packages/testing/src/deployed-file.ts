import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './machine.ts'

/** The folder of the files that operators copy. */
export const deployFolder = join(repository, 'docs/deploy')

/** A file of docs/deploy, with the words of `replacements` in the place of others, each of which must occur in it. */
export function deployedFile(
  name: string,
  replacements: Readonly<Record<string, string>> = {},
): string {
  let text = readFileSync(join(deployFolder, name), 'utf8')
  for (const [from, to] of Object.entries(replacements)) {
    if (!text.includes(from)) throw new Error(`docs/deploy/${name} does not contain ${from}`)
    text = text.replaceAll(from, to)
  }
  return text
}
