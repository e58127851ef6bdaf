import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { rootCommand } from '@holdfast/testing'
import type { DiskAnswer, DiskCommand } from './children/power-disk.ts'
import type { FileSystem } from './file-systems.ts'
import type { Loss } from './forgetful-disk.ts'

/** A file system on a disk whose power can be cut. */
export interface PowerDisk {
  /** Where it is mounted. */
  readonly directory: string
  /** Cuts the power: from now on every read and write of the disk fails. */
  cut(): Promise<void>
  /**
   * Gives the power back after a cut: the write cache has lost all, or any part by `seed`; the file system is mounted, which
   * repairs it by its journal, and examined. Whoever had files open has to be gone.
   * @returns how many blocks of 4 KiB had been written and not flushed
   * @throws an error with what its checking program says when the file system is damaged
   */
  recover(loss: Loss, seed: number): Promise<number>
  /** Takes everything away. Never fails. */
  close(): Promise<void>
}

const child = fileURLToPath(new URL('children/power-disk.ts', import.meta.url))

/** Makes an empty disk with `fileSystem` in `place`, an empty directory. Needs root, or sudo without a password. */
export async function openPowerDisk(place: string, fileSystem: FileSystem): Promise<PowerDisk> {
  const owner = [process.getuid?.(), process.getgid?.()].map(String)
  const [program, args] = rootCommand([process.execPath, child, place, fileSystem, ...owner])
  // A group of its own: Ctrl+C is for the one who cleans up.
  const disk = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  let said = ''
  disk.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  disk.stdin.on('error', () => {})
  const ended = once(disk, 'close')
  const answers = createInterface(disk.stdout)[Symbol.asyncIterator]()

  const ask = async (command: DiskCommand): Promise<DiskAnswer> => {
    disk.stdin.write(`${JSON.stringify(command)}\n`)
    const { value } = (await answers.next()) as { value?: string }
    if (value === undefined) throw new Error(`The disk's process ended: ${said}`)
    const answer = JSON.parse(value) as DiskAnswer
    if (answer.error !== undefined) throw new Error(`${command.do}: ${answer.error}`)
    return answer
  }
  const close = async () => {
    disk.stdin.end()
    await ended
  }

  await ask({ do: 'make' }).catch(async (error: unknown) => {
    await close()
    throw error
  })
  return {
    directory: join(place, 'mounted'),
    async cut() {
      await ask({ do: 'cut' })
    },
    recover: async (loss, seed) => (await ask({ do: 'recover', loss, seed })).cached ?? 0,
    close,
  }
}
