import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatText } from '../../format/format-text.ts'

/** The parts of documents that programs write. */
export type Part = 'measured' | 'growth' | 'headline'

const placeOf = (part: Part) =>
  new RegExp(`(?<=<!-- ${part}: [^>]*-->\n)[^]*?(?=<!-- end of ${part} -->)`)

/** Whether `document` has a place for this part. */
export function hasPlaceFor(document: string, part: Part): boolean {
  return placeOf(part).test(document)
}

/** The document with `text` as one of its parts; what stands around it stays. Throws where that has no place. */
export function intoDocument(document: string, part: Part, text: string): string {
  if (!hasPlaceFor(document, part)) {
    throw new Error(`The document has no place for what is ${part}`)
  }
  return document.replace(placeOf(part), () => `\n${text}\n`)
}

/** A document with nothing but the places of what was measured, and of what was found out about growth. */
export const emptyDocument = `# Benchmarks

<!-- measured: written by scripts/bench/run -->

<!-- end of measured -->

## How cost grows

<!-- growth: written by scripts/bench/growth -->

<!-- end of growth -->
`

/** Writes one part of `file` in the folder `out` anew. */
export async function writePart(
  out: string,
  file: 'benchmarks.md' | 'benchmarks/figures.md',
  part: Part,
  text: string,
): Promise<void> {
  const path = join(out, file)
  const present = await readFile(path, 'utf8').catch(() => emptyDocument)
  await writeFormatted(path, intoDocument(present, part, text))
}

/** Writes `text` into the file at `path`, in the format of the rest of the repository. */
export async function writeFormatted(path: string, text: string): Promise<void> {
  await writeFile(path, await formatText(path, text))
}
