import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finding, type Finding } from '@holdfast/core'

/** Whether a file that is written in `directory` gets the time of this machine. */
export async function tryClock(directory: string): Promise<Finding> {
  const path = join(directory, 'clock')
  const begin = Date.now()
  await writeFile(path, '')
  const end = Date.now()
  return clockFinding((await stat(path)).mtimeMs, { begin, end })
}

/** Milliseconds that a file's time may be off: kernels round, and some file systems keep whole seconds of even number. */
const tolerance = 2_000

/** Whether the time of a file that was written between `begin` and `end` is that of this machine; in milliseconds. */
export function clockFinding(
  fileTime: number,
  { begin, end }: { readonly begin: number; readonly end: number },
): Finding {
  const early = begin - fileTime
  const late = fileTime - end
  const off = Math.max(early, late)
  if (off <= tolerance) return finding('ok', 'file times', 'are those of this machine')
  const direction = early > late ? 'behind' : 'ahead of'
  const message = `the clock of the file system is ${(off / 1000).toFixed(0)} s ${direction} that of this machine`
  const remedy = 'Set both by NTP; on this machine: timedatectl set-ntp true'
  return finding('warning', 'file times', message, remedy)
}
