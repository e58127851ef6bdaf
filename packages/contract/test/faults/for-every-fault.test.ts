import { expect } from 'chai'
import { rejection } from '../../src/support/expectations.ts'
import { createFaults, type Fault } from '../../src/faults/faults.ts'
import { forEveryFault } from '../../src/faults/inject-faults.ts'

const twoCalls = async (fault: Fault) => {
  const faults = createFaults()
  faults.plan(fault)
  await faults.call('read', async () => {}).catch(() => {})
  await faults.call('add', async () => {}).catch(() => {})
}

describe('forEveryFault', () => {
  it('runs a scenario under each fault in turn, and once without', async () => {
    let runs = 0
    const struck = await forEveryFault(async (fault) => {
      runs++
      expect(fault.nth).to.equal(runs)
      await twoCalls(fault)
    })
    expect(runs).to.equal(5)
    expect(struck.map(({ method, moment }) => `${method} ${moment}`)).to.deep.equal([
      'read call',
      'read answer',
      'add call',
      'add answer',
    ])
  })

  it('hands the options on to each run', async () => {
    const error = new Error('on purpose')
    const only = { moment: 'answer' } as const
    const struck = await forEveryFault(
      async (fault) => {
        expect(fault).to.include({ error, only, lasting: true })
        await twoCalls(fault)
      },
      { error, only, lasting: true },
    )
    expect(struck.map(({ method }) => method)).to.deep.equal(['read', 'add'])
  })

  it('fails with the step and the cause when a run fails', async () => {
    const cause = new Error('The books are wrong')
    const failure = await rejection(
      forEveryFault(async (fault) => {
        await twoCalls(fault)
        if (fault.nth === 3) throw cause
      }),
    )
    expect(failure).to.include({ cause })
    expect(String(failure)).to.contain('Under fault 3 (add, call): Error: The books are wrong')
  })

  it('fails when the run without a fault fails', async () => {
    const failure = await rejection(
      forEveryFault(async (fault) => {
        await twoCalls(fault)
        if (fault.nth === 5) throw new Error('no')
      }),
    )
    expect(String(failure)).to.contain('Under fault 5 (not met)')
  })

  it('fails when the scenario meets no fault at all', async () => {
    const failure = await rejection(forEveryFault(async () => {}))
    expect(String(failure)).to.contain('meets no fault')
  })
})
