/** Packs the packages into the folder that is named, and lists them in `tarballs.json` there. Part of scripts/test, after the build. */
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { packPackages } from './pack-packages.ts'

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('name the folder')
const tarballs = await packPackages(join(import.meta.dirname, '../..'), resolve(folder))
await writeFile(join(folder, 'tarballs.json'), JSON.stringify(tarballs))
