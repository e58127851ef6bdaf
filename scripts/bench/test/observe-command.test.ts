import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { observeCommand } from '../measure/observe-command.ts'

describe('observeCommand', () => {
  let directory = ''
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-bench-test-'))
  })
  after(() => rm(directory, { recursive: true }))

  const observe = (command: string, args: readonly string[], environment = {}) =>
    observeCommand({ command, args, environment }, { directory, log: join(directory, 'log') })

  const node = (script: string) => observe(process.execPath, ['--eval', script])

  it('says the time of a command, its processor time and the most memory that it had', async () => {
    const busy = await node(`
      Buffer.alloc(200 * 1024 ** 2, 1)
      while (process.cpuUsage().user < 5e5) for (let n = 0; n < 1e6; n++);
    `)
    expect(busy.seconds).to.be.above(0.4)
    expect(busy.cpuSeconds).to.be.above(0.4)
    expect(busy.peakMiB).to.be.above(200).and.below(1000)
  })

  it('counts what processes used that the command has started', async () => {
    const script = `for each in 1 2; do '${process.execPath}' --eval 'while (process.cpuUsage().user < 3e5) for (let n = 0; n < 1e6; n++);'; done`
    expect((await observe('sh', ['-c', script])).cpuSeconds).to.be.above(0.5)
  })

  it('counts nothing that was before', async () => {
    const idle = await observe('sleep', ['0.5'])
    expect(idle.cpuSeconds).to.be.below(0.5)
    expect(idle.peakMiB).to.be.above(0).and.below(20)
  })

  it('runs the command in the directory, with its variables', async () => {
    await observe('sh', ['-c', 'echo "$WHERE" > here'], { WHERE: 'there' })
    expect(await readFile(join(directory, 'here'), 'utf8')).to.equal('there\n')
  })

  it('rejects with what the command has said when it fails', async () => {
    const failure: unknown = await observe('sh', ['-c', 'echo wrong >&2; exit 3']).catch(
      (error: unknown) => error,
    )
    expect(failure)
      .to.have.property('message')
      .that.matches(/^sh -c .* ended with 3: wrong/)
  })

  it('kills the command when it is interrupted', async () => {
    const place = { directory, log: join(directory, 'log'), signal: AbortSignal.timeout(50) }
    const endless = observeCommand({ command: 'sleep', args: ['1000'] }, place)
    const failure: unknown = await endless.catch((error: unknown) => error)
    expect(failure).to.have.property('name', 'AbortError')
  })

  it('rejects when there is no such command', async () => {
    const failure: unknown = await observe('/no/such/command', []).catch((error: unknown) => error)
    expect(failure).to.have.property('code', 'ENOENT')
  })
})
