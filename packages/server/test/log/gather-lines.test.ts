import { expect } from 'chai'
import { gatherLines } from '../../src/log/open-log.ts'

/** A writer of lines in front of one that keeps what it is given. */
function collect(maxBytes = 1000) {
  const written: string[] = []
  const lines = gatherLines((text) => void written.push(text), maxBytes)
  return { lines, written }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('gatherLines', () => {
  it('hands the lines of one turn on together, in order, and those of the next one behind them', async () => {
    const { lines, written } = collect()
    lines.write('a\n')
    lines.write('b\n')
    expect(written).to.deep.equal([])
    await turn()
    lines.write('c\n')
    await turn()
    expect(written).to.deep.equal(['a\nb\n', 'c\n'])
  })

  it('hands on whole lines of at most so many bytes together, and a longer one alone', async () => {
    const { lines, written } = collect(8)
    for (const line of ['123\n', '456\n', 'ä€\n', 'much longer\n', 'x\n']) lines.write(line)
    await turn()
    expect(written).to.deep.equal(['123\n456\n', 'ä€\n', 'much longer\n', 'x\n'])
  })

  it('hands on at once what is to be written at once', async () => {
    const { lines, written } = collect()
    lines.write('a\n')
    lines.flush()
    expect(written).to.deep.equal(['a\n'])
    await turn()
    expect(written).to.deep.equal(['a\n'])
  })
})
