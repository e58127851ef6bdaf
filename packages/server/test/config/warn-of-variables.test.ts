import { createSite, runHoldfast, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { unknownVariables } from '../../src/config/warn-of-variables.ts'

describe('unknownVariables', () => {
  for (const [name, meant] of [
    ['HOLDFAST_PRT', 'HOLDFAST_PORT'],
    ['HOLDFAST_ADMINPORT', 'HOLDFAST_ADMIN_PORT'],
    ['holdfast_data', 'HOLDFAST_DATA'],
    ['HOLDFAST_MINIO_SECRETKEY', 'HOLDFAST_MINIO_SECRET_KEY'],
    ['HOLDFAST_CONFG', 'HOLDFAST_CONFIG'],
  ] as const) {
    it(`takes ${name} for a slip of ${meant}, and does not show its value`, () => {
      expect(unknownVariables({ [name]: 'a secret' })).to.deep.equal([
        `${name} is not a setting and is ignored. Did you mean ${meant}?`,
      ])
    })
  }

  it('knows no name for one that is far from all', () => {
    expect(unknownVariables({ HOLDFAST_SOMETHING_ELSE: '1' })).to.deep.equal([
      'HOLDFAST_SOMETHING_ELSE is not a setting and is ignored.',
    ])
  })

  it('passes over settings, other programs, empty ones, and those of the project and of Kubernetes', () => {
    const environment = {
      PATH: '/bin',
      HOLDFAST_PORT: '80',
      HOLDFAST_MINIO_SECRET_KEY_FILE: '/run/secret',
      HOLDFAST_PRT: '',
      HOLDFAST_WITHOUT_CONTAINERS: '1',
      HOLDFAST_BENCH_NGINX: '1',
      HOLDFAST_SERVICE_HOST: '10.0.0.1',
      HOLDFAST_SERVICE_PORT_HTTP: '3000',
      HOLDFAST_ADMIN_SERVICE_PORT: '3001',
      HOLDFAST_PORT_3000_TCP_ADDR: '10.0.0.1',
      HOLDFAST_WEB_PORT: 'tcp://10.0.0.1:3000',
    }
    expect(unknownVariables(environment)).to.deep.equal([])
  })

  it('is printed by every other command before it begins', async () => {
    const site = await createSite()
    const env = { HOLDFAST_CUSTOMER: 'x' }
    const { code, stderr } = await runHoldfast(['customers', 'list'], { cwd: site.path, env })
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr:
        'holdfast: HOLDFAST_CUSTOMER is not a setting and is ignored. Did you mean HOLDFAST_CUSTOMERS?\n',
    })
    await site.remove()
  })

  it('is in the log of a server that starts with one', async () => {
    const site = await createSite()
    const env = { HOLDFAST_WORKER: '2' }
    const server = await startHoldfast([], { cwd: site.path, env })
    try {
      const line = await server.logged('HOLDFAST_WORKER is not a setting')
      expect(line).to.include({ level: 40 })
      expect(line['msg']).to.include('Did you mean HOLDFAST_WORKERS?')
    } finally {
      await server.kill()
      await site.remove()
    }
  })
})
