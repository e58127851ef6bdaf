/** Writes the manual page that the package `holdfast` has, from the descriptions of its commands. Part of packing it. */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { manPage } from './manual/man-page.ts'

const folder = join(import.meta.dirname, '../packages/holdfast/man')
await mkdir(folder, { recursive: true })
// Others may be packing it at the same time.
const draft = join(folder, `holdfast.1.${process.pid}`)
await writeFile(draft, await manPage())
await rename(draft, join(folder, 'holdfast.1'))
