import { PassThrough } from 'node:stream'
import { mock } from 'node:test'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createScreen, type ScreenOutput, transferLine } from '../../src/remote/screen.ts'
import { showSyncProgress } from '../../src/remote/sync/verbs.ts'

describe('createScreen', () => {
  const outputOf = (facts: Partial<Record<'isTTY', boolean>>) => {
    let written = ''
    const stream = Object.assign(new PassThrough(), { columns: 80, rows: 24, ...facts })
    stream.on('data', (chunk: Buffer) => (written += chunk.toString()))
    return { output: stream as unknown as ScreenOutput, written: () => written }
  }

  it('redraws the progress of files on a terminal, below the lines', async () => {
    const { output, written } = outputOf({ isTTY: true })
    const screen = createScreen(output, {})
    const one = screen.begin('one', 100)
    screen.begin('two').update(5)
    one.update(40)
    await until('progress is shown', () => written().includes('one  40%  40 B of 100 B'))
    expect(written()).to.include('two  5 B')
    screen.line('a line')
    one.end()
    screen.end()
    expect(written()).to.include('\u001b[2K')
    expect(written()).to.include('a line\n')
  })

  it('shows nothing while a question has the screen', async () => {
    const { output, written } = outputOf({ isTTY: true })
    const screen = createScreen(output, {})
    screen.begin('one', 100).update(40)
    await until('progress is shown', () => written().includes('one  40%'))
    const answer = await screen.hold(async () => {
      output.write('Really? ')
      screen.line('a line')
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(written().endsWith('Really? ')).to.equal(true)
      return 'yes'
    })
    expect(answer).to.equal('yes')
    expect(written()).to.match(/Really\? .*a line\n/s)
    screen.end()
  })

  it('shows no progress where there is no terminal, such as in a log', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    const { output, written } = outputOf({})
    const screen = createScreen(output, {})
    screen.begin('one', 100).update(1)
    const sync = showSyncProgress(output, {})
    sync.update({ checked: 1, total: 2, moved: 1, movedBytes: 1 })
    mock.timers.tick(120_000)
    screen.line('a line')
    sync.note('another')
    screen.end()
    sync.end()
    mock.timers.reset()
    expect(written()).to.equal('a line\nanother\n')
  })

  for (const environment of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
    it(`writes plain lines with ${JSON.stringify(environment)}`, () => {
      const { output, written } = outputOf({ isTTY: true })
      const screen = createScreen(output, environment)
      screen.begin('one', 100).update(1)
      screen.line('a line')
      screen.end()
      expect(written()).to.equal('a line\n')
    })
  }
})

describe('transferLine', () => {
  const state = { name: 'a', size: 2000, done: 500, bytesPerSecond: 100 }

  it('says how far a file is, and how long it takes', () => {
    expect(transferLine(state, 80)).to.equal('a  25%  500 B of 2.00 kB  100 B/s  15s left')
    expect(transferLine({ ...state, size: undefined }, 80)).to.equal('a  500 B  100 B/s')
    expect(transferLine({ ...state, size: 0, done: 0, bytesPerSecond: 0 }, 80)).to.include('100%')
  })

  it('fits into the width, without what a terminal would obey', () => {
    const line = transferLine({ ...state, name: `\u001b[31m${'x'.repeat(200)}` }, 79)
    expect(line).to.have.length(79)
    expect(line).not.to.include('\u001b')
    expect(line).to.include('...  25%')
  })
})
