import { fileURLToPath } from 'node:url'
import { getAssetKeys, getRawAsset } from 'node:sea'

/** Above the folder that `bundleExecutable` gives the modules. */
const root = '/proc/self/embedded/'

/** Reads what the executable has at `path`; `undefined` if that is elsewhere. Do not write to the bytes: they are the program's own. */
export function embeddedFile(path: unknown): Buffer | undefined {
  const key = keyOf(path)
  return key !== undefined && getAssetKeys().includes(key)
    ? Buffer.from(getRawAsset(key))
    : undefined
}

/** Lists the names directly in the folder `path` of the executable; `undefined` if that is elsewhere. */
export function embeddedNames(path: unknown): string[] | undefined {
  const folder = keyOf(path)
  if (folder === undefined) return undefined
  const below = getAssetKeys().filter((key) => key.startsWith(`${folder}/`))
  return [...new Set(below.map((key) => key.slice(folder.length + 1).replace(/\/.*/, '')))]
}

function keyOf(path: unknown): string | undefined {
  const plain = path instanceof URL ? fileURLToPath(path) : String(path)
  return plain.startsWith(root) ? plain.slice(root.length) : undefined
}
