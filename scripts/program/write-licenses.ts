/** Writes the licences of all that the single executable has in it into the file that is named. Part of scripts/release/run, after the build. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleExecutable } from './bundle-executable.ts'
import { licensesOf } from './licenses-of.ts'
import { nodeBinary } from './node-binary.ts'
import { pageLibraries } from './page-libraries.ts'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('name the file')
const root = join(import.meta.dirname, '../..')
const folder = await mkdtemp(join(tmpdir(), 'holdfast-licenses-'))
try {
  const modules = await bundleExecutable(root, folder)
  // A Node.js for other machines comes as a package with its licence, which is that of this one.
  const other = await nodeBinary(process.arch === 'x64' ? 'arm64' : 'x64')
  const license = await readFile(join(other.file, '../../LICENSE'), 'utf8')
  const libraries = licensesOf([...modules, ...pageLibraries(root)])
  await writeFile(file, `== node ${process.versions.node} (MIT)\n\n${license}\n${libraries}`)
} finally {
  await rm(folder, { recursive: true })
}
