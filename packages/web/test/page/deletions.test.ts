import { expect } from 'chai'
import { notices } from '../../page/app/notices.ts'
import { createDeletions } from '../../page/list/deletions.ts'
import { fakeConnection, settled } from './fake-connection.ts'

function harness() {
  const { connection, asked, lines } = fakeConnection()
  const timers = new Set<() => void>()
  const calls: string[] = []
  const page = new EventTarget()
  const deletions = createDeletions(connection, {
    page,
    after(_ms, run) {
      timers.add(run)
      return () => timers.delete(run)
    },
    onIdle: () => calls.push('idle'),
    files: {
      hide: (names) => calls.push(`hide ${names.join()}`),
      show: (names) => calls.push(`show ${names.join()}`),
      remove: (name) => calls.push(`remove ${name}`),
    },
  })
  const passTime = () => timers.forEach((run) => run())
  return { deletions, asked, lines, passTime, calls, page }
}

describe('createDeletions', () => {
  beforeEach(() => (notices.value = []))
  after(() => (notices.value = []))

  it('deletes once that can no longer be undone, one file after the other', async () => {
    const { deletions, asked, lines, passTime, calls } = harness()
    deletions.delete(['a', 'b'])
    expect(lines()).to.deep.equal([])
    passTime()
    expect(lines()).to.deep.equal(['DELETE delete/a'])
    await asked[0]!.answer()
    await asked[1]!.answer()
    expect(calls).to.deep.equal(['hide a,b', 'remove a', 'remove b', 'idle'])
    expect(notices.value).to.deep.equal([])
  })

  it('deletes nothing that was undone', () => {
    const { deletions, lines, passTime, calls } = harness()
    deletions.delete(['a'])
    notices.value[0]!.action!.run()
    passTime()
    expect(lines()).to.deep.equal([])
    expect(calls).to.deep.equal(['hide a', 'show a'])
  })

  it('takes the last deletion back, and then the one before', () => {
    const { deletions, lines, passTime, calls } = harness()
    deletions.delete(['a'])
    deletions.delete(['b', 'c'])
    for (let time = 0; time < 3; time += 1) deletions.undo()
    passTime()
    expect(lines()).to.deep.equal([])
    expect(calls).to.deep.equal(['hide a', 'hide b,c', 'show b,c', 'show a'])
    expect(notices.value).to.deep.equal([])
  })

  it('brings back what could not be deleted, and says so once', async () => {
    const { deletions, asked, passTime, calls } = harness()
    deletions.delete(['a', 'b', 'c'])
    passTime()
    await asked[0]!.fail(503)
    await asked[1]!.fail(400, 'File not found')
    await asked[2]!.fail(503)
    expect(calls).to.include.members(['show a', 'remove b', 'show c'])
    expect(notices.value.map(({ text }) => text)).to.deep.equal([
      '2 files could not be deleted. The server is busy. Try again soon.',
    ])
  })

  it('loses no deletion that waits for its turn when the page goes', async () => {
    const { deletions, asked, lines, passTime, page } = harness()
    deletions.delete(['a', 'b'])
    passTime()
    deletions.delete(['c'])
    page.dispatchEvent(new Event('pagehide'))
    expect(lines()).to.deep.equal(['DELETE delete/a', 'DELETE delete/b', 'DELETE delete/c'])
    expect(asked.slice(1).map(({ init }) => init.keepalive)).to.deep.equal([true, true])
    for (const each of asked) await each.answer()
    expect(asked).to.have.length(3)
  })

  it('has ended when all is deleted', async () => {
    const { deletions, asked, page } = harness()
    deletions.delete(['a'])
    const ended = deletions.end()
    await asked[0]!.answer()
    await ended
    deletions.delete(['b'])
    page.dispatchEvent(new Event('pagehide'))
    expect(asked).to.have.length(1)
  })

  it('reports nothing that ends after its customer has signed out', async () => {
    const { deletions, asked } = harness()
    deletions.delete(['a'])
    const ended = deletions.end()
    await asked[0]!.fail(503)
    await ended
    expect(notices.value).to.deep.equal([])
  })

  it('spares a new file that has got a name whose deletion can still be undone', async () => {
    const { deletions, asked, lines, passTime } = harness()
    deletions.delete(['a', 'b'])
    deletions.delete(['c'])
    deletions.spare('a')
    deletions.spare('c')
    expect(notices.value).to.have.length(1)
    passTime()
    await asked[0]!.answer()
    expect(lines()).to.deep.equal(['DELETE delete/b'])
  })

  it('spares a new file that has got a name whose deletion waits for its turn', async () => {
    const { deletions, asked, lines, passTime } = harness()
    deletions.delete(['a', 'b', 'c'])
    passTime()
    deletions.spare('b')
    await asked[0]!.answer()
    await asked[1]!.answer()
    expect(lines()).to.deep.equal(['DELETE delete/a', 'DELETE delete/c'])
  })

  describe('before a file gets a name that was deleted', () => {
    it('deletes the old one first, and never the new one', async () => {
      const { deletions, asked, lines, passTime, calls } = harness()
      deletions.delete(['a', 'b'])
      let isSettled = false
      void deletions.settle('a').then(() => (isSettled = true))
      await settled()
      expect([lines(), isSettled]).to.deep.equal([['DELETE delete/a'], false])
      await asked[0]!.answer()
      expect(isSettled).to.equal(true)
      // The other one can still be undone.
      notices.value[0]!.action!.run()
      passTime()
      expect(lines()).to.have.length(1)
      expect(calls.at(-1)).to.equal('show b')
    })

    it('waits for a deletion that is under way', async () => {
      const { deletions, asked, passTime } = harness()
      deletions.delete(['a'])
      passTime()
      let isSettled = false
      void deletions.settle('a').then(() => (isSettled = true))
      await settled()
      expect([asked.length, isSettled]).to.deep.equal([1, false])
      await asked[0]!.answer()
      expect(isSettled).to.equal(true)
    })

    it('brings forward one that waits for its turn', async () => {
      const { deletions, asked, lines, passTime } = harness()
      deletions.delete(['a', 'b', 'c'])
      passTime()
      void deletions.settle('c')
      expect(lines()).to.deep.equal(['DELETE delete/a', 'DELETE delete/c'])
      await asked[1]!.answer()
      await asked[0]!.answer()
      await asked[2]!.answer()
      expect(lines()).to.deep.equal(['DELETE delete/a', 'DELETE delete/c', 'DELETE delete/b'])
    })

    it('waits for nothing where there is no deletion', async () => {
      const { deletions, asked } = harness()
      await deletions.settle('a')
      expect(asked).to.deep.equal([])
    })
  })
})
