import { exchange } from '@holdfast/testing'
import { expect } from 'chai'
import { warnOfUnreadableHeaders } from '../../src/guards/address-of.ts'
import { collectLog } from '../support/collected-log.ts'
import { customerRequest } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'

const message = 'A header of a trusted proxy cannot be read'

describe('warnOfUnreadableHeaders', () => {
  it('logs the first value of each header that cannot be read', () => {
    const log = collectLog()
    const warn = warnOfUnreadableHeaders(log)
    for (const value of ['unknown', '_hidden']) warn('X-Forwarded-For', value)
    warn('X-Forwarded-Proto', 'gopher')
    expect(log.lines).to.deep.equal([
      { level: 'warn', fields: { header: 'X-Forwarded-For', value: 'unknown' }, message },
      { level: 'warn', fields: { header: 'X-Forwarded-Proto', value: 'gopher' }, message },
    ])
  })

  it('logs no more than the beginning of a long value', () => {
    const log = collectLog()
    warnOfUnreadableHeaders(log)('X-Forwarded-For', 'x'.repeat(10_000))
    expect(log.lines[0]?.fields['value']).to.equal(`${'x'.repeat(100)}…`)
  })

  it('warns once for all requests of an application', async () => {
    await using app = await runApp({ trustedProxies: ['127.0.0.1'] })
    for (const entry of ['unknown', '1.2.3', '203.0.113.9:80']) {
      await exchange(app.port, customerRequest('GET', '/list', { 'X-Forwarded-For': entry }))
    }
    const warnings = app.log.lines.filter(({ level }) => level === 'warn')
    expect(warnings.map(({ fields }) => fields)).to.deep.equal([
      { header: 'X-Forwarded-For', value: 'unknown' },
    ])
  })

  it('warns once of a proxy that is not trusted', async () => {
    await using app = await runApp()
    for (const _time of [1, 2]) {
      await exchange(app.port, customerRequest('GET', '/list', { 'X-Forwarded-For': '1.2.3.4' }))
    }
    const warnings = app.log.lines.filter(({ level }) => level === 'warn')
    expect(warnings.map(({ fields }) => fields)).to.deep.equal([{ address: '127.0.0.1' }])
    expect(warnings[0]?.message).to.match(/^X-Forwarded-For of an untrusted peer is ignored/)
  })
})
