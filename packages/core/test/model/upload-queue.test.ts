import { expect } from 'chai'
import { isFileServiceError } from '../../src/model/errors.ts'
import { createUploadQueue } from '../../src/model/upload-rules.ts'

/** Work that ends when it is told to, and notes when it began, was interrupted and ended. */
function createWork(name: string, log: string[]) {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  return {
    end: () => resolve(undefined),
    work: async (interrupted: AbortSignal): Promise<string> => {
      log.push(`${name} begins`)
      if (interrupted.aborted) log.push(`${name} is interrupted`)
      interrupted.addEventListener('abort', () => log.push(`${name} is interrupted`))
      await promise
      log.push(`${name} ends`)
      return name
    },
  }
}

const soon = () => new Promise((resolve) => setImmediate(resolve))

describe('createUploadQueue', () => {
  it('interrupts what runs, and waits until it has ended', async () => {
    const log: string[] = []
    const queue = createUploadQueue()
    const [one, two, three] = ['one', 'two', 'three'].map((name) => createWork(name, log)) as [
      ReturnType<typeof createWork>,
      ReturnType<typeof createWork>,
      ReturnType<typeof createWork>,
    ]
    const running = [one, two, three].map(({ work }) => queue.run('upload', work))
    await soon()
    expect(log).to.deep.equal(['one begins', 'one is interrupted'])
    for (const { end } of [one, two, three]) end()
    expect(await Promise.all(running)).to.deep.equal(['one', 'two', 'three'])
    expect(log).to.deep.equal([
      'one begins',
      'one is interrupted',
      'one ends',
      'two begins',
      'two is interrupted',
      'two ends',
      'three begins',
      'three ends',
    ])
  })

  it('says by whom a call was interrupted', async () => {
    const queue = createUploadQueue()
    const reasons: unknown[] = []
    const first = queue.run('upload', async (interrupted) => {
      await new Promise((resolve) => interrupted.addEventListener('abort', resolve))
      reasons.push(interrupted.reason)
    })
    await soon()
    await queue.interrupt('upload')
    await first
    expect(isFileServiceError(reasons[0], 'upload-conflict')).to.equal(true)
  })

  it('goes on after work that fails', async () => {
    const queue = createUploadQueue()
    const failing = queue.run('upload', () => Promise.reject(new Error('full')))
    const later = queue.run('upload', async () => 'later')
    expect(await failing.catch((error: unknown) => String(error))).to.equal('Error: full')
    expect(await later).to.equal('later')
  })

  it('leaves other uploads alone, and forgets what has ended', async () => {
    const log: string[] = []
    const queue = createUploadQueue()
    const one = createWork('one', log)
    const running = queue.run('alice/1', one.work)
    await queue.run('bob/1', async () => {})
    await queue.interrupt('bob/1')
    expect(log).to.deep.equal(['one begins'])
    expect(queue.isRunning('alice/1')).to.equal(true)
    expect(queue.isRunning('bob/1')).to.equal(false)
    one.end()
    await running
    expect(queue.isRunning('alice/1')).to.equal(false)
  })

  it('ends all when it is closed, and lets nothing begin', async () => {
    const queue = createUploadQueue()
    const ended: string[] = []
    const untilInterrupted = (name: string) => async (interrupted: AbortSignal) => {
      await new Promise((resolve) => interrupted.addEventListener('abort', resolve))
      ended.push(`${name}: ${String(interrupted.reason)}`)
    }
    const running = ['a', 'b'].map((name) => queue.run(name, untilInterrupted(name)))
    await soon()
    const closing = queue.close(new Error('closed'))
    const late = queue.run('c', async () => {}).catch((error: unknown) => String(error))
    await closing
    expect(ended).to.deep.equal(['a: Error: closed', 'b: Error: closed'])
    expect(await late).to.equal('Error: closed')
    await Promise.all(running)
  })
})
