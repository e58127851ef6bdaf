/**
 * Takes the pictures of the page, and the recording of a terminal, anew, into docs/pictures or the folder that is named. Needs Chromium,
 * script(1) of util-linux, and the build.
 */
import { join, resolve } from 'node:path'
import { recordTerminal } from './pictures/record-terminal.ts'
import { takePictures } from './pictures/take-pictures.ts'

const [folder = join(import.meta.dirname, '../docs/pictures')] = process.argv.slice(2)
for (const path of await takePictures(resolve(folder))) console.log(path)
console.log(await recordTerminal(resolve(folder)))
