import type { BigIntStats } from 'node:fs'
import { sep } from 'node:path'
import type { FileCalls } from './file-calls.ts'
import { isAbsence } from './system-error.ts'

/** The stats of a directory; `undefined` if there is none. */
export type StatsOf = (directory: string) => Promise<BigIntStats | undefined>

/** Makes a reader of the stats of directories, which follows a symbolic link. */
export function createStatsOf(calls: Pick<FileCalls, 'lstat'>): StatsOf {
  return async (directory) => {
    try {
      return await calls.lstat(`${directory}${sep}.`)
    } catch (error) {
      if (isAbsence(error)) return undefined
      throw error
    }
  }
}
