import { readFileSync } from 'node:fs'
import { expect } from 'chai'

const folder = new URL('../../../../../docs/deploy/', import.meta.url)

/** A file of docs/deploy, with the words of `replacements` in the place of others, each of which must occur in it. */
export function deployedFile(name: string, replacements: Readonly<Record<string, string>>): string {
  let text = readFileSync(new URL(name, folder), 'utf8')
  for (const [from, to] of Object.entries(replacements)) {
    expect(text, `docs/deploy/${name}`).to.include(from)
    text = text.replaceAll(from, to)
  }
  return text
}
