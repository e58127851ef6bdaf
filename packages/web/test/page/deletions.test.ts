import { expect } from 'chai'
import { notices } from '../../page/parts/notices.ts'
import { harness, names, shown } from './deletions-harness.ts'
import { settled } from './fake-connection.ts'

describe('createDeletions', () => {
  beforeEach(() => (notices.value = []))
  after(() => (notices.value = []))

  it('deletes once that can no longer be undone, many files by one request', async () => {
    const { deletions, asked, lines, passTime, calls } = harness()
    deletions.delete(['a', 'b'])
    expect(lines()).to.deep.equal([])
    await passTime()
    expect(lines()).to.deep.equal(['POST delete/batch'])
    expect(asked[0]!.names).to.deep.equal(['a', 'b'])
    await asked[0]!.answerLines()
    expect(calls).to.deep.equal(['hide a,b', 'remove a', 'remove b', 'idle'])
    expect(notices.value).to.deep.equal([])
  })

  it('deletes thousands by several requests, one after the other, and shows how many are deleted', async () => {
    const { deletions, asked, passTime } = harness()
    const many = names(600)
    deletions.delete(many)
    expect(shown()).to.deep.equal(['Deleting 600 files …'])
    await passTime()
    expect(shown()).to.deep.equal(['Deleted 0 of 600 files …'])
    await asked[0]!.answerLines()
    expect(shown()).to.deep.equal(['Deleted 250 of 600 files …'])
    for (const index of [1, 2]) await asked[index]!.answerLines()
    expect(asked.flatMap((each) => each.names)).to.deep.equal(many)
    expect(asked).to.have.length(3)
    expect(shown()).to.deep.equal([])
  })

  it('shows each file that is deleted, while its request is under way', async () => {
    const { deletions, asked, passTime, calls } = harness()
    deletions.delete(['a', 'b'])
    await passTime()
    const line = { filename: 'a', statusCode: 200, message: 'OK' }
    const lines = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(new TextEncoder().encode(`${JSON.stringify(line)}\n`)),
    })
    asked[0]!.answerStream(lines)
    await settled()
    expect(calls.at(-1)).to.equal('remove a')
    expect(shown()).to.deep.equal(['Deleted 1 of 2 files …'])
  })

  it('deletes a single file as ever', async () => {
    const { deletions, asked, lines, passTime } = harness()
    deletions.delete(['a'])
    expect(shown()).to.deep.equal(['Deleting “a” …'])
    await passTime()
    expect(shown()).to.deep.equal([])
    expect(lines()).to.deep.equal(['DELETE delete/a'])
    await asked[0]!.answer()
  })

  it('deletes nothing that was undone', async () => {
    const { deletions, lines, passTime, calls } = harness()
    deletions.delete(['a'])
    notices.value[0]!.action!.run()
    await passTime()
    expect(lines()).to.deep.equal([])
    expect(calls).to.deep.equal(['hide a', 'show a'])
  })

  it('takes the last deletion back, and then the one before', async () => {
    const { deletions, lines, passTime, calls } = harness()
    deletions.delete(['a'])
    deletions.delete(['b', 'c'])
    for (let time = 0; time < 3; time += 1) deletions.undo()
    await passTime()
    expect(lines()).to.deep.equal([])
    expect(calls).to.deep.equal(['hide a', 'hide b,c', 'show b,c', 'show a'])
    expect(notices.value).to.deep.equal([])
  })

  it('brings back what could not be deleted, and says so once', async () => {
    const { deletions, asked, passTime, calls } = harness()
    deletions.delete(['a', 'b', 'c', 'd'])
    await passTime()
    const unavailable = [503, 'Storage unavailable'] as const
    await asked[0]!.answerLines({ a: unavailable, b: [400, 'File not found'], c: unavailable })
    expect(calls).to.deep.equal([
      'hide a,b,c,d',
      'show a',
      'remove b',
      'show c',
      'remove d',
      'idle',
    ])
    expect(shown()).to.deep.equal([
      '2 files could not be deleted. The server is busy. Try again soon.',
    ])
  })

  it('brings back all that is not answered when a request fails, and sends no further one', async () => {
    const { deletions, asked, passTime, calls } = harness()
    deletions.delete(names(600))
    await passTime()
    await asked[0]!.answerLines()
    await asked[1]!.breakOff()
    expect(asked).to.have.length(2)
    const back = calls
      .filter((call) => call.startsWith('show'))
      .flatMap((call) => call.slice(5).split(','))
    expect(back).to.deep.equal(names(600).slice(250))
    expect(shown()).to.deep.equal([
      '350 files could not be deleted. The server cannot be reached. Check your connection.',
    ])
  })

  it('loses no deletion when the page goes', async () => {
    const { deletions, asked, passTime, page } = harness()
    deletions.delete(names(300))
    await passTime()
    deletions.delete(['c'])
    page.dispatchEvent(new Event('pagehide'))
    await settled()
    expect(asked.map((each) => each.names.length)).to.deep.equal([250, 51])
    expect(asked.flatMap((each) => each.names)).to.have.members([...names(300), 'c'])
    expect(asked.map(({ init }) => init.keepalive)).to.deep.equal([true, true])
    for (const each of asked) await each.answerLines()
    expect(asked).to.have.length(2)
  })

  it('sends as much as a browser takes when the page goes, and the rest where it comes back', async () => {
    const { deletions, asked, page, passTime } = harness()
    const many = names(1000).map((name) => name.padEnd(100, 'ü'))
    deletions.delete(many)
    await passTime()
    page.dispatchEvent(new Event('pagehide'))
    await settled()
    expect(asked).to.have.length(2)
    const bytes = asked.map((each) => Buffer.byteLength(JSON.stringify(each.names)))
    expect(bytes[0]).to.be.within(29_000, 30_000)
    expect(bytes[0]! + bytes[1]!).to.be.within(58_000, 60_000)
    for (let index = 0; index < asked.length; index += 1) await asked[index]!.answerLines()
    expect(asked.flatMap((each) => each.names)).to.have.members(many)
    expect(asked.flatMap((each) => each.names)).to.have.length(1000)
  })

  it('has one request with many names under way at a time', async () => {
    const { deletions, asked, passTime } = harness()
    deletions.delete(['a', 'b'])
    deletions.delete(['c', 'd'])
    await passTime()
    expect(asked.map((each) => each.names)).to.deep.equal([['a', 'b']])
    await asked[0]!.answerLines()
    expect(asked[1]!.names).to.deep.equal(['c', 'd'])
    await asked[1]!.answerLines()
    expect(notices.value).to.deep.equal([])
  })

  it('warns whoever leaves until all is deleted', async () => {
    const { deletions, asked, passTime, page } = harness()
    const isWarned = () => !page.dispatchEvent(new Event('beforeunload', { cancelable: true }))
    expect(isWarned()).to.equal(false)
    deletions.delete(['a', 'b'])
    expect(isWarned()).to.equal(true)
    await passTime()
    const ended = deletions.end()
    expect(isWarned()).to.equal(true)
    await asked[0]!.answerLines()
    await ended
    expect(isWarned()).to.equal(false)
  })

  it('has ended when all is deleted', async () => {
    const { deletions, asked, page } = harness()
    deletions.delete(['a'])
    const ended = deletions.end()
    await asked[0]!.answer()
    await ended
    deletions.delete(['b'])
    page.dispatchEvent(new Event('pagehide'))
    await settled()
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
    deletions.cancelDeletion('a')
    deletions.cancelDeletion('c')
    expect(notices.value).to.have.length(1)
    await passTime()
    await asked[0]!.answer()
    expect(lines()).to.deep.equal(['DELETE delete/b'])
  })

  it('spares a new file that has got a name whose deletion waits in the queue', async () => {
    const { deletions, asked, passTime } = harness()
    deletions.delete(names(300))
    await passTime()
    deletions.cancelDeletion('file 270')
    await asked[0]!.answerLines()
    await asked[1]!.answerLines()
    const sent = asked.flatMap((each) => each.names)
    expect(sent).to.deep.equal(names(300).filter((name) => name !== 'file 270'))
  })
})
