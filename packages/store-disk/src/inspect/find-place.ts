import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { finding, type Finding } from '@holdfast/core'
import { isAbsence } from '../files/system-error.ts'
import { shellWord } from './shell-word.ts'

export interface Place {
  readonly finding: Finding
  /** The directory itself, or the one nearest above it that is there; `undefined` where there can be none. */
  readonly existing: string | undefined
}

/** Whether the directory `data` is there, or could be made. */
export async function findPlace(data: string): Promise<Place> {
  try {
    if (!(await stat(data)).isDirectory()) return unusable(data, 'it is a file')
    return { finding: finding('ok', check, data), existing: data }
  } catch (error) {
    if (!isAbsence(error)) return unusable(data, String(error))
  }
  const existing = await nearestAbove(data)
  if (existing === undefined) return unusable(data, 'a part of the path is a file')
  const message = `${data} is missing; the server makes it`
  return { finding: finding('ok', check, message), existing }
}

const check = 'directory'

function unusable(data: string, reason: string): Place {
  const remedies = [
    'Give another directory, or see what is in the way:',
    `namei -l ${shellWord(data)}`,
  ]
  const problem = finding('problem', check, `${data} cannot be used: ${reason}`, ...remedies)
  return { finding: problem, existing: undefined }
}

async function nearestAbove(path: string): Promise<string | undefined> {
  const above = dirname(path)
  try {
    return (await stat(above)).isDirectory() ? above : undefined
  } catch (error) {
    return isAbsence(error) && above !== path ? nearestAbove(above) : undefined
  }
}
