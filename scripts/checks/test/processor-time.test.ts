import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { processorTimeOfEnded, processorTimeOfMachine } from '../processor-time.ts'

const isLinux = process.platform === 'linux'

/** Keeps a processor busy for so many milliseconds of its own time, in a process of its process. */
function work(ms: number): void {
  const busy = `while (process.cpuUsage().user < ${ms * 1000}) {}`
  const script = `require('child_process').execFileSync(process.execPath, ['--eval', ${JSON.stringify(busy)}])`
  execFileSync(process.execPath, ['--eval', script])
}

describe('processorTimeOfEnded', () => {
  it('has what ended since the last call, with the processes that it waited for', () => {
    processorTimeOfEnded()
    work(700)
    const long = processorTimeOfEnded()
    const none = processorTimeOfEnded()
    if (!isLinux) return expect([long, none]).to.deep.equal([undefined, undefined])
    expect(long).to.be.within(0.69, 60)
    expect(none).to.equal(0)
  })
})

describe('processorTimeOfMachine', () => {
  it('grows with what any process does', () => {
    const before = processorTimeOfMachine()
    work(700)
    const after = processorTimeOfMachine()
    if (before === undefined || after === undefined) return expect(isLinux).to.equal(false)
    expect(after - before).to.be.above(0.5)
  })
})
