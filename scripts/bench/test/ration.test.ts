import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { cpuSecondsOf } from '../measure/process-figures.ts'
import { ration } from '../measure/ration.ts'

describe('ration', () => {
  it('lets a process have a part of a processor', async () => {
    const busy = spawn(process.execPath, ['--eval', 'for (;;);'])
    const pid = busy.pid ?? 0
    try {
      const end = await ration(pid, 0.2)
      const [cpu, at] = [await cpuSecondsOf(pid), performance.now()]
      await delay(1000)
      const used = (await cpuSecondsOf(pid)) - cpu
      const seconds = (performance.now() - at) / 1000
      expect(used / seconds)
        .to.be.above(0)
        .and.below(0.3)
      busy.kill('SIGKILL')
      await once(busy, 'exit')
      await end()
    } finally {
      busy.kill('SIGKILL')
    }
  })

  it('rejects where there is no such process, and leaves nothing behind', async () => {
    for (const _ of [1, 2]) {
      const error: unknown = await ration(4_194_305, 0.2).catch((reason: unknown) => reason)
      expect(error).to.have.property('code', 'ESRCH')
    }
  })
})
