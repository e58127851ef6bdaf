import { expect } from 'chai'
import { lookAtMachine, machineFindings, type Machine } from '../../src/doctor/examine.ts'

const good: Machine = {
  nodeVersion: '24.9.0',
  threads: '16',
  openFiles: 65_536,
  now: new Date('2026-11-21T12:00:00Z'),
}

const told = (machine: Partial<Machine>) =>
  machineFindings({ ...good, ...machine }).map(
    ({ check, mark, message, remedies }) =>
      `${mark}: ${check}: ${[message, ...remedies].join('. ')}`,
  )

const faults = (machine: Partial<Machine>) => told(machine).filter((line) => !line.startsWith('ok'))

describe('machineFindings', () => {
  it('says what there is', () => {
    expect(told({})).to.deep.equal([
      'ok: Node.js: 24.9.0',
      'ok: threads: 16 for files and passwords',
      'ok: open files: up to 65,536 files and connections',
      'ok: clock: 2026-11-21T12:00:00.000Z',
    ])
    expect(told({ openFiles: Infinity })[2]).to.match(/any number files|any number/)
  })

  it('reports too few threads', () => {
    for (const threads of ['2', 'many', '-1']) {
      expect(faults({ threads })).to.deep.equal([
        `warning: threads: UV_THREADPOOL_SIZE=${threads} leaves too few for files and passwords. unset UV_THREADPOOL_SIZE`,
      ])
    }
    expect(faults({ threads: undefined })).to.deep.equal([])
  })

  it('reports a low limit of open files', () => {
    expect(faults({ openFiles: 1024 })).to.deep.equal([
      'warning: open files: up to 1,024 files and connections; each transfer takes two. LimitNOFILE=65536 in the systemd unit, or in a shell: ulimit -n 65536',
    ])
    expect(faults({ openFiles: undefined })[0]).to.match(/^skipped: open files: this operating/)
  })

  it('reports a clock that stands still in another age', () => {
    for (const year of ['1970', '2107']) {
      const [fault] = faults({ now: new Date(`${year}-01-01T00:00:00Z`) })
      expect(fault).to.match(/^problem: clock: .* cannot be right; .* timedatectl set-ntp true$/)
    }
  })
})

describe('lookAtMachine', () => {
  it('looks at this one', async () => {
    const { nodeVersion, openFiles } = await lookAtMachine()
    expect(nodeVersion).to.equal(process.versions.node)
    expect(openFiles).to.be.above(0)
  })
})
