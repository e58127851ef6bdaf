/** Takes the pictures of the page anew, into docs/pictures or the folder that is named. Needs Chromium, and the build. */
import { join, resolve } from 'node:path'
import { takePictures } from './pictures/take-pictures.ts'

const [folder = join(import.meta.dirname, '../docs/pictures')] = process.argv.slice(2)
for (const path of await takePictures(resolve(folder))) console.log(path)
