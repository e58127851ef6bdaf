import { expect } from 'chai'
import { notices } from '../../page/parts/notices.ts'
import { harness, names } from './deletions-harness.ts'
import { settled } from './fake-connection.ts'

describe('Deletions, before a file gets a name that was deleted,', () => {
  beforeEach(() => (notices.value = []))
  after(() => (notices.value = []))

  it('deletes the old one first, and never the new one', async () => {
    const { deletions, asked, lines, passTime, calls } = harness()
    deletions.delete(['a', 'b'])
    let isSettled = false
    void deletions.finishDeletion('a').then(() => (isSettled = true))
    await settled()
    expect([lines(), isSettled]).to.deep.equal([['DELETE delete/a'], false])
    await asked[0]!.answer()
    expect(isSettled).to.equal(true)
    // The other one can still be undone.
    notices.value[0]!.action!.run()
    await passTime()
    expect(lines()).to.have.length(1)
    expect(calls.at(-1)).to.equal('show b')
  })

  it('waits for a deletion that is under way', async () => {
    const { deletions, asked, passTime } = harness()
    deletions.delete(['a'])
    await passTime()
    let isSettled = false
    void deletions.finishDeletion('a').then(() => (isSettled = true))
    await settled()
    expect([asked.length, isSettled]).to.deep.equal([1, false])
    await asked[0]!.answer()
    expect(isSettled).to.equal(true)
  })

  it('waits for the line of one that is under way with others', async () => {
    const { deletions, asked, passTime } = harness()
    deletions.delete(['a', 'b'])
    await passTime()
    let isSettled = false
    void deletions.finishDeletion('a').then(() => (isSettled = true))
    await settled()
    expect([asked.length, isSettled]).to.deep.equal([1, false])
    await asked[0]!.answerLines()
    expect(isSettled).to.equal(true)
  })

  it('brings forward one that waits in the queue', async () => {
    const { deletions, asked, lines, passTime } = harness()
    deletions.delete(names(300))
    await passTime()
    void deletions.finishDeletion('file 270')
    await settled()
    expect(lines()).to.deep.equal(['POST delete/batch', 'DELETE delete/file%20270'])
    await asked[1]!.answer()
    await asked[0]!.answerLines()
    await asked[2]!.answerLines()
    const others = names(300).filter((name) => name !== 'file 270')
    expect([...asked[0]!.names, ...asked[2]!.names]).to.deep.equal(others)
  })

  it('waits for nothing where there is no deletion', async () => {
    const { deletions, asked } = harness()
    await deletions.finishDeletion('a')
    expect(asked).to.deep.equal([])
  })
})
