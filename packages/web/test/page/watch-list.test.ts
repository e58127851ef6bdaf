import { expect } from 'chai'
import type { FileList, RefreshedList } from '../../page/list/file-list-state.ts'
import { settled } from './fake-connection.ts'
import { brokenLine, refusedLogin } from './refusals.ts'

interface WatchList {
  readonly watchList: (files: FileList, context: object) => () => void
}

/** Not by its name, since its types are those of a browser, which the tests in Node have not. */
const subject = new URL('../../page/list/watch-list.ts', import.meta.url).href

/** A list of `count` names whose requests are answered by `answer`. */
async function harness(count: number, answer: (after: string) => Partial<RefreshedList> | Error) {
  const { watchList } = (await import(subject)) as WatchList
  const timers: { ms: number; run: () => void }[] = []
  const asked: string[] = []
  const arrived: string[][] = []
  const retried = { status: [] as unknown[], times: 0 }
  const state: { status: unknown } = { status: 'complete' }
  const network = new EventTarget()
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
  const files = {
    status: { peek: () => state.status },
    async retry() {
      retried.times += 1
      state.status = retried.status.shift() ?? state.status
    },
    all: { peek: () => ({ length: count }) },
    beforeView: () => 'in view',
    refreshUsage: () => {},
    async refresh(after: string) {
      asked.push(after)
      const answered = answer(after)
      if (answered instanceof Error) throw answered
      return { added: [], hasChanged: false, last: undefined, ...answered }
    },
  }
  const end = watchList(files as never, {
    page,
    network,
    now: () => 0,
    onArrived: (names: string[]) => arrived.push(names),
    after(ms: number, run: () => void) {
      const timer = { ms, run }
      timers.push(timer)
      return () => void timers.splice(timers.indexOf(timer), 1)
    },
  })
  const tick = async () => {
    const { ms, run } = timers.pop()!
    run()
    await settled()
    return ms
  }
  return { asked, arrived, retried, state, page, network, timers, tick, end }
}

describe('watchList', () => {
  it('asks less often while nothing changes, and after errors', async () => {
    let answer: Partial<RefreshedList> | Error = {}
    const { tick, arrived } = await harness(3, () => answer)
    const waits = []
    for (let time = 0; time < 6; time++) waits.push(await tick())
    expect(waits).to.deep.equal([4000, 6000, 9000, 13_500, 20_000, 20_000])
    answer = new Error('The connection failed')
    for (let time = 0; time < 3; time++) await tick()
    answer = { added: ['a'], hasChanged: true }
    expect(await tick()).to.equal(60_000)
    expect(arrived).to.deep.equal([['a']])
    expect(await tick()).to.equal(4000)
  })

  it('goes through a long list page by page, in turn with what is in view', async () => {
    const pages: Readonly<Record<string, string | undefined>> = { '': 'k', k: 't' }
    const { tick, asked } = await harness(2500, (after) => ({ last: pages[after] }))
    for (let time = 0; time < 7; time++) await tick()
    expect(asked).to.deep.equal(['in view', '', 'in view', 'k', 'in view', 't', 'in view'])
  })

  it('asks nothing while the page is hidden, and at once when it is shown again', async () => {
    const { tick, asked, page, timers, end } = await harness(3, () => ({}))
    page.visibilityState = 'hidden'
    await tick()
    expect(asked).to.deep.equal([])
    page.visibilityState = 'visible'
    page.dispatchEvent(new Event('visibilitychange'))
    await settled()
    expect(asked).to.deep.equal([''])
    end()
    expect(timers).to.deep.equal([])
  })

  it('loads a list again that could not be loaded: less and less often, and at once when the browser is online', async () => {
    const { tick, asked, retried, state, network, end } = await harness(3, () => ({}))
    state.status = { error: brokenLine() }
    const waits = []
    for (let time = 0; time < 6; time++) waits.push(await tick())
    expect(waits).to.deep.equal([4000, 8000, 16_000, 32_000, 60_000, 60_000])
    expect(retried.times).to.equal(6)
    retried.status.push('complete')
    network.dispatchEvent(new Event('online'))
    await settled()
    expect(retried.times).to.equal(7)
    expect(asked).to.deep.equal([])
    expect(await tick()).to.equal(4000)
    expect(asked).to.deep.equal([''])
    end()
    network.dispatchEvent(new Event('online'))
    await settled()
    expect(asked).to.deep.equal([''])
  })

  it('asks nothing after a refused login', async () => {
    const { tick, asked, retried, state } = await harness(3, () => ({}))
    state.status = { error: refusedLogin() }
    await tick()
    expect([asked, retried.times]).to.deep.equal([[], 0])
  })
})
