/**
 * Writes the reference of the HTTP API, docs/openapi.yaml as a page for people, into a file: one that is named, or
 * `dist/reference.html`. The page needs nothing else, and no network.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { renderReference } from './reference/render-reference.ts'

const [file = join(import.meta.dirname, '../dist/reference.html')] = process.argv.slice(2)
await mkdir(dirname(resolve(file)), { recursive: true })
await writeFile(file, await renderReference(join(import.meta.dirname, '..')))
console.log(resolve(file))
