import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { connectToEngine, removeAbandoned } from '../../src/minio/engine.ts'
import { describeWithContainers } from '../../src/minio/describe-with-minio.ts'
import { startMinio } from '../../src/minio/start-minio.ts'

const child = join(import.meta.dirname, 'children/start-and-die.ts')

describeWithContainers('What a process leaves in the engine', (suite) => {
  suite.timeout(120_000)

  it('is removed when it ends by an exception', async () => {
    const { containerId, ended } = await startChild('throw')
    await ended
    while (await exists(containerId)) await setTimeout(100)
  })

  it('is removed by the next process when it was killed', async () => {
    const { containerId, ended, process } = await startChild('wait')
    process.kill('SIGKILL')
    await ended
    expect(await exists(containerId)).to.equal(true)
    const next = await startChild('throw')
    expect(await exists(containerId)).to.equal(false)
    await next.ended
  })

  it('stays while it runs', async () => {
    const own = await startMinio()
    const { containerId, ended, process } = await startChild('wait')
    try {
      await removeAbandoned(await connectToEngine())
      expect(await exists(containerId)).to.equal(true)
      expect(await exists(own.containerId)).to.equal(true)
    } finally {
      process.kill('SIGKILL')
      await ended
      await removeAbandoned(await connectToEngine())
      await own.stop()
    }
  })
})

async function startChild(end: 'throw' | 'wait') {
  const started = spawn(process.execPath, [child, end], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(started, 'close')
  const [containerId] = (await once(createInterface(started.stdout), 'line')) as [string]
  return { containerId, ended, process: started }
}

async function exists(containerId: string): Promise<boolean> {
  const { container } = await connectToEngine()
  const filters = { id: [containerId] }
  return (await container.dockerode.listContainers({ all: true, filters })).length > 0
}
