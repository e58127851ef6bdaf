import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'

/** The parts of docs/benchmarks.md that programs write. */
export type Part = 'measured' | 'growth'

/** The document with `text` as one of its parts; what stands around it stays. Throws where that has no place. */
export function intoDocument(document: string, part: Part, text: string): string {
  const place = new RegExp(`(?<=<!-- ${part}: [^>]*-->\n)[^]*?(?=<!-- end of ${part} -->)`)
  if (!place.test(document)) throw new Error(`The document has no place for what is ${part}`)
  return document.replace(place, () => `\n${text}\n`)
}

/** A document with nothing but these places. */
export const emptyDocument = `# Benchmarks

<!-- measured: written by scripts/bench/run -->

<!-- end of measured -->

## How cost grows

<!-- growth: written by scripts/bench/growth -->

<!-- end of growth -->
`

/** Writes one part of `benchmarks.md` in the folder `out` anew. */
export async function writePart(out: string, part: Part, text: string): Promise<void> {
  const path = join(out, 'benchmarks.md')
  const present = await readFile(path, 'utf8').catch(() => emptyDocument)
  await writeFormatted(path, intoDocument(present, part, text))
}

/** As prettier has it for the rest of the repository. */
export async function writeFormatted(path: string, text: string): Promise<void> {
  const style = await resolveConfig(import.meta.filename)
  await writeFile(path, await format(text, { ...style, filepath: path }))
}
