import { globSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { renderValidator } from './render-validator.ts'

/**
 * Writes the validators of the repository in the working directory: of each `x-schema.ts` in a folder of a package's sources, which exports
 * an object called `…Schema`, `x-validator.ts` beside it. A file that would stay the same is not touched.
 */
export async function writeValidators(): Promise<void> {
  for (const path of globSync('packages/*/src/*/*-schema.ts')) {
    const module = (await import(pathToFileURL(resolve(path)).href)) as Readonly<
      Record<string, object>
    >
    const [, schema] = Object.entries(module).find(([name]) => name.endsWith('Schema')) ?? []
    if (schema === undefined) throw new Error(`${path} exports no schema`)
    const target = path.replace(/schema\.ts$/, 'validator.ts')
    const text = renderValidator(schema)
    const old = await readFile(target, 'utf8').catch(() => undefined)
    if (old !== text) await writeFile(target, text)
  }
}
