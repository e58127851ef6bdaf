import { expect } from 'chai'
import { createReportQueue } from '../src/quotas/quota-reports.ts'

describe('createReportQueue', () => {
  it('has calls that come while a report is on its way share the next one, which gives back if one wants it', async () => {
    const sent: boolean[] = []
    const first = Promise.withResolvers<undefined>()
    const queue = createReportQueue(async (givesBack) => {
      sent.push(givesBack)
      if (sent.length === 1) await first.promise
    })
    const underWay = queue.add()
    await new Promise((resolve) => setImmediate(resolve))
    const later = [queue.add(), queue.add(true), queue.add(), queue.add(true)]
    expect(queue.isWaiting()).to.equal(true)
    first.resolve(undefined)
    await Promise.all([underWay, ...later])
    expect(sent).to.deep.equal([false, true])
    expect(queue.isWaiting()).to.equal(false)
  })

  it('rejects only the calls of the report that failed', async () => {
    let reports = 0
    const queue = createReportQueue(async () => {
      if (++reports === 1) throw new Error('lost')
    })
    const failed = queue.add()
    await new Promise((resolve) => setImmediate(resolve))
    expect(await failed.catch(String)).to.equal('Error: lost')
    await queue.add(true)
    expect(reports).to.equal(2)
  })
})
