import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** Shell of a document, as a reader would paste it. */
export interface ShellBlock {
  /** The document's path below the root. */
  readonly document: string
  /** Where it stands in the document, counted from 1. */
  readonly line: number
  readonly script: string
}

/** The documents that people read, by their paths below the root, in order. */
export function documents(): readonly string[] {
  const patterns = ['*.md', 'docs/**/*.md', '{packages,examples}/*/*.md', 'examples/*.md']
  return globSync(patterns, { cwd: root }).sort()
}

/** What a document says. */
export function textOf(document: string): string {
  return readFileSync(root + document, 'utf8')
}

/** Every fenced `sh` block of a document, also those in lists, without their indentation. */
export function shellBlocks(document: string): readonly ShellBlock[] {
  const text = textOf(document)
  return [...text.matchAll(/^( *)```sh\n([^]*?)^\1```$/gm)].map(
    ({ index, 1: indent = '', 2: shell = '' }) => ({
      document,
      line: text.slice(0, index).split('\n').length + 1,
      script: shell.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  )
}
