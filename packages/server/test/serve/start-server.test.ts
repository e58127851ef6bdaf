import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import {
  createSite,
  credentials,
  customersYaml,
  openConnection,
  type Site,
  until,
  uploadHead,
} from '@holdfast/testing'
import { expect } from 'chai'
import pino from 'pino'
import { SetupError } from '@holdfast/core'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { startServer, type RunningServer } from '../../src/serve/start-server.ts'

describe('startServer', () => {
  let site: Site
  let server: RunningServer | undefined
  let logged: string
  beforeEach(async () => {
    site = await createSite()
    logged = ''
  })
  afterEach(async () => {
    await server?.close(AbortSignal.abort())
    server = undefined
    await site.remove()
  })

  const start = async (flags: Readonly<Record<string, string>> = {}) => {
    const paths = { data: join(site.path, 'data'), customers: join(site.path, 'customers.yaml') }
    const log = pino(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          logged += chunk.toString()
          done()
        },
      }),
    )
    server = await startServer(resolveConfig({ flags: { port: '0', ...paths, ...flags } }), log)
    return server
  }

  const refusal = async (starting: Promise<unknown>) => {
    try {
      await starting
    } catch (error) {
      if (error instanceof SetupError) return error.message
      throw error
    }
    throw new Error('It started')
  }

  it('serves on its url until it is closed, and may then be started again', async () => {
    for (let round = 0; round < 2; round++) {
      const running = await start()
      const put = { method: 'PUT', headers: credentials, body: String(round) }
      expect((await fetch(`${running.url}/upload/a`, put)).status).to.equal(200)
      const served = await fetch(`${running.url}/serve/a`, { headers: credentials })
      expect(await served.text()).to.equal(String(round))
      expect(await running.close()).to.equal(true)
      const error: unknown = await fetch(`${running.url}/ping`).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(TypeError)
    }
    expect(await readdir(join(site.path, 'data/tmp'))).to.deep.equal([])
  })

  it('says whether a reload was taken', async () => {
    const running = await start()
    await site.write('customers.yaml', customersYaml('bob', 'p'))
    expect(await running.reload()).to.equal(true)
    await site.write('customers.yaml', 'customers: 1\n')
    expect(await running.reload()).to.equal(false)
  })

  it('cuts at once when it is closed with a signal that has aborted', async () => {
    const running = await start({ 'shutdown-grace': '1h' })
    const upload = await openConnection(Number(new URL(running.url).port))
    upload.write(uploadHead('a', 10))
    upload.write('first')
    await until('the upload is under way', async () => (await site.litter()).length > 0)
    expect(await running.close(AbortSignal.abort())).to.equal(false)
    await upload.closed
    await until(
      'nothing is left',
      async () => (await readdir(join(site.path, 'data/tmp'))).length === 0,
    )
  })

  it('lets go of the customers file and of the store when it cannot start', async () => {
    await site.write('file', '')
    const blocker = await start()
    const port = new URL(blocker.url).port
    expect(await refusal(start({ data: join(site.path, 'file') }))).to.include('it is a file')
    expect(await refusal(start({ port, data: join(site.path, 'other') }))).to.include(
      'another --port',
    )
    expect(await readdir(join(site.path, 'other/tmp'))).to.deep.equal([])
    logged = ''
    await site.write('customers.yaml', customersYaml('bob', 'p'))
    await until('the change is logged', () => logged.includes('customers reloaded'))
    // Whoever else still looked at the file, once a second, would have something to say by then.
    await delay(1_300)
    expect(logged.split('customers reloaded')).to.have.length(2)
  })
})
