import { expect } from 'chai'
import pino from 'pino'
import { until } from '@holdfast/testing'
import { sweepUploads } from '../../src/serve/sweeps.ts'

interface Line {
  readonly level: number
  readonly msg: string
  readonly uploads?: number
  readonly err?: { readonly message: string }
}

/** A service whose sweeps end as `outcomes` say, one after the other, and then with nothing removed. */
function open(outcomes: readonly (number | Error)[], pauseMs?: number) {
  const lines: Line[] = []
  const expired: number[] = []
  let sweeps = 0
  const service = {
    async sweepUploads() {
      const outcome = outcomes[sweeps++] ?? 0
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  }
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Line) })
  const onExpired = (uploads: number) => void expired.push(uploads)
  const sweeping = sweepUploads(service, log, {
    onExpired,
    ...(pauseMs !== undefined && { pauseMs }),
  })
  return { lines, expired, sweeps: () => sweeps, close: () => sweeping.close() }
}

const told = ({ level, msg, uploads, err }: Line) => [level, msg, uploads ?? err?.message]

describe('sweepUploads', () => {
  it('sweeps at once and then regularly, and logs what was removed', async () => {
    const { lines, expired, sweeps, close } = open([3, 0, 1], 1)
    await until('it has swept four times', () => sweeps() > 3)
    await close()
    expect(lines.map(told)).to.deep.equal([
      [30, 'expired uploads were removed', 3],
      [30, 'expired uploads were removed', 1],
    ])
    expect(expired).to.deep.equal([3, 1])
  })

  it('goes on after a sweep that fails, and logs that', async () => {
    const { lines, sweeps, close } = open([new Error('down'), 2], 1)
    await until('it has swept again', () => sweeps() > 2)
    await close()
    expect(lines.map(told)).to.deep.equal([
      [40, 'expired uploads cannot be removed', 'down'],
      [30, 'expired uploads were removed', 2],
    ])
  })

  it('waits an hour by default, and sweeps no more once it is closed', async () => {
    for (const pauseMs of [undefined, 1]) {
      const { sweeps, close } = open([], pauseMs)
      await close()
      const before = sweeps()
      await new Promise((resolve) => setTimeout(resolve, 50))
      expect(sweeps()).to.equal(before)
    }
  })

  it('does not wait long for a sweep that hangs, and logs nothing of it afterwards', async () => {
    const lines: string[] = []
    const hanging = Promise.withResolvers<number>()
    const log = pino({}, { write: (line: string) => void lines.push(line) })
    const sweeping = sweepUploads({ sweepUploads: () => hanging.promise }, log)
    await sweeping.close()
    hanging.reject(new Error('closed'))
    await new Promise(setImmediate)
    expect(lines).to.deep.equal([])
  })
})
