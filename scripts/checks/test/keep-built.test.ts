import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { keepBuilt } from '../keep-built.ts'

describe('keepBuilt', () => {
  it('lets nothing count as built that was saved during a build', async () => {
    await withRepository({ 'packages/b/src/index.ts': 'export {}\n' }, async (folder) => {
      const source = join(folder, 'packages/b/src/index.ts')
      const record = join(folder, 'packages/b/dist/.tsbuildinfo')
      await mkdir(join(folder, 'packages/b/dist'))
      const second = Promise.withResolvers<readonly number[]>()
      let builds = 0
      await keepBuilt(folder, async () => {
        if (++builds === 1) {
          // A real build takes longer. The clock of files goes by steps of some milliseconds.
          await delay(20)
          await writeFile(source, 'export const saved = true\n')
          await delay(20)
          await writeFile(record, '{}')
        } else if (builds === 2) {
          second.resolve([(await stat(record)).mtimeMs, (await stat(source)).mtimeMs])
          // It would go on as long as the process.
          await new Promise(() => {})
        }
      })
      const [recordedAt = Infinity, savedAt = 0] = await second.promise
      expect(recordedAt).to.be.below(savedAt)
    })
  })
})
