/**
 * Packs the packages into the folder that is named, and lists them in `tarballs.json` there; installs them in the second folder, if one
 * is named. Part of scripts/test, after the build.
 */
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { packPackages } from './pack-packages.ts'
import { makeInstallation } from './test/shared-installation.ts'

const [folder, installation] = process.argv.slice(2)
if (folder === undefined) throw new Error('name the folder')
const tarballs = await packPackages(join(import.meta.dirname, '../..'), resolve(folder))
const list = join(folder, 'tarballs.json')
await writeFile(list, JSON.stringify(tarballs))
if (installation !== undefined) {
  process.env['HOLDFAST_TEST_TARBALLS'] = list
  await makeInstallation(resolve(installation))
}
