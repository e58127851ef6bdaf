import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crashPoint } from '../files/crash-point.ts'
import { isSystemError } from '../files/translate-fs-error.ts'

/** Each of these names is folded, changed, shortened, refused or misread by some file system. */
const trialNames = [
  'a',
  'A',
  '\u00e9',
  'e\u0301',
  'k',
  '\u212a',
  'dot.',
  'dot',
  'space ',
  'space',
  'con',
  'a:b',
  'back\\slash',
  'all*?"<>|',
  '\ufeffmark',
  '\u{1f600}',
  'x'.repeat(255),
  '\u6f22'.repeat(85),
]

/** The errors of file systems for a name that exists or that they refuse. */
const refusals = ['EEXIST', 'EINVAL', 'EILSEQ', 'ENAMETOOLONG', 'ENOENT', 'EISDIR', 'EPERM']

/**
 * Whether the file system below `directory` keeps every name that the core allows as it is and apart from all others,
 * tried with real files, since it depends on the mount and not on the operating system.
 */
export async function keepsNamesApart(directory: string): Promise<boolean> {
  return (await findUnkeptName(directory)) === undefined
}

/** The first name that the file system below `directory` refuses, changes or takes for another one; mostly none. */
export async function findUnkeptName(directory: string): Promise<string | undefined> {
  const trial = join(directory, 'names')
  await mkdir(trial)
  try {
    for (const name of trialNames) if (await isRefused(join(trial, name))) return name
    const kept = new Set(await readdir(trial))
    crashPoint('name-trial-written')
    return trialNames.find((name) => !kept.has(name))
  } finally {
    await rm(trial, { recursive: true })
  }
}

async function isRefused(path: string): Promise<boolean> {
  try {
    await writeFile(path, '', { flag: 'wx' })
    return false
  } catch (error) {
    if (isSystemError(error, ...refusals)) return true
    throw error
  }
}
