import { adviceText } from '@holdfast/core'
import { createSite, runHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { clearTextWarning } from '../../src/listen/explain-listening.ts'

describe('clearTextWarning', () => {
  const warning = async (flags: Readonly<Record<string, string>>) => {
    const advice = await clearTextWarning(resolveConfig({ flags }))
    return advice && adviceText(advice)
  }

  for (const host of [
    '0.0.0.0',
    '::',
    '192.0.2.1',
    '2001:db8::1',
    'nowhere.invalid',
    '128.0.0.1',
  ]) {
    it(`says for --host ${host} what to do`, async () => {
      expect(await warning({ host }))
        .to.include(`--host ${host} `)
        .and.to.include('--tls-cert')
        .and.to.include('--trust-proxy')
        .and.to.include('127.0.0.1')
    })
  }

  for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost', '::ffff:127.0.0.1']) {
    it(`says nothing for --host ${host}`, async () => {
      expect(await warning({ host })).to.equal(undefined)
    })
  }

  it('says nothing with a certificate or a trusted proxy', async () => {
    const host = '0.0.0.0'
    expect(await warning({ host, 'tls-cert': 'c', 'tls-key': 'k' })).to.equal(undefined)
    expect(await warning({ host, 'trust-proxy': '10.0.0.1' })).to.equal(undefined)
  })

  it('is in the log of holdfast serve', async () => {
    const site = await createSite()
    // An address that no machine has: the warning comes before the port opens.
    const args = ['serve', '--host', '192.0.2.1', '--port', '0']
    const { stdout, stderr } = await runHoldfast(args, { cwd: site.path })
    await site.remove()
    expect(stdout).to.include('Passwords and files cross the network unencrypted')
    expect(stderr).to.include('does not have the address')
  })
})
