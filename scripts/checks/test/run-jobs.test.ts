import { expect } from 'chai'
import { runJobs, type Job } from '../run-jobs.ts'

/** Jobs that end when they are told, and a record of what happened. */
function rig(lanes: number, ...titles: string[]) {
  const events: string[] = []
  const endings = new Map<string, () => void>()
  const job = (title: string): Job<string> => ({
    title,
    kind: 'units',
    isAlone: title.startsWith('alone'),
    isExternal: false,
    run: () => new Promise((resolve) => endings.set(title, () => resolve(`of ${title}`))),
  })
  const all = runJobs(titles.map(job), {
    lanes,
    stop: new AbortController().signal,
    onStart: ({ title }) => events.push(`+${title}`),
    onEnd: (done) => events.push(`-${done.job.title}`),
  })
  const end = async (title: string) => {
    endings.get(title)?.()
    await new Promise(setImmediate)
  }
  return { events, all, end }
}

describe('runJobs', () => {
  it('does as many jobs at a time as there are lanes, the next as soon as one has ended', async () => {
    const { events, all, end } = rig(2, 'a', 'b', 'c')
    expect(events).to.deep.equal(['+a', '+b'])
    await end('b')
    expect(events).to.deep.equal(['+a', '+b', '-b', '+c'])
    await end('c')
    await end('a')
    expect(await all).to.deep.equal(['of a', 'of b', 'of c'])
  })

  it('keeps those that want to be alone until all others have ended', async () => {
    const { events, all, end } = rig(3, 'alone 1', 'a', 'alone 2', 'b')
    await end('a')
    expect(events).to.deep.equal(['+a', '+b', '-a'])
    await end('b')
    expect(events.slice(3)).to.deep.equal(['-b', '+alone 1'])
    await end('alone 1')
    expect(events.slice(5)).to.deep.equal(['-alone 1', '+alone 2'])
    await end('alone 2')
    expect(await all).to.deep.equal(['of alone 1', 'of a', 'of alone 2', 'of b'])
  })

  it('is done at once where there is nothing to do', async () => {
    expect(await rig(2).all).to.deep.equal([])
  })
})
