import { execFile } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { runtimes } from './runtime.ts'

const packages = join(import.meta.dirname, '../../..')
const memoryContract = join(packages, 'contract/test/memory.test.ts')
const child = (name: string) => join(import.meta.dirname, 'children', name)

for (const { name, find, options } of runtimes) {
  describe(name, function () {
    this.timeout(300_000)

    it('keeps the contract with the memory store and the disk store', async () => {
      // The memory store's suites have 447 tests, the disk store's 400.
      expect(await passesOf(memoryContract, child('disk-contract.ts'))).to.be.above(800)
    })

    it('serves uploads, lists, downloads and deletions, and is the client of them', async () => {
      expect(await passesOf(child('service.ts'))).to.equal(3)
    })
  })

  /** Rejects with the whole report when a test fails. */
  async function passesOf(...files: readonly string[]): Promise<number> {
    const args = [...options, child('run-tests.ts'), ...files]
    const env = { ...process.env, TMPDIR: await quickDirectory(), NO_COLOR: '1' }
    const { stdout } = await promisify(execFile)(find(), args, { env, maxBuffer: 2 ** 26 }).catch(
      (error: unknown) => {
        throw error instanceof Error && 'stdout' in error
          ? new Error(String(error.stdout), { cause: error })
          : error
      },
    )
    const { passes } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { passes: number }
    return passes
  }
}

/** In memory where there is room: whether disks sync is shown elsewhere. */
async function quickDirectory(): Promise<string> {
  const memory = '/dev/shm'
  const room = await statfs(memory).catch(() => undefined)
  return room && room.bavail * room.bsize > 2 ** 30 ? memory : tmpdir()
}
