import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import {
  credentials,
  type HoldfastServer,
  openConnection,
  until,
  uploadHead,
  useHoldfast,
  scrape,
} from '@holdfast/testing'
import { expect } from 'chai'

describe('/metrics', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()
  const { site } = holdfast
  let server: HoldfastServer
  beforeEach(async () => {
    server = await holdfast.start(['--admin-port', '0', '--max-file-size', '1kB'])
  })

  const send = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(server.url + path, { headers: credentials, ...init })
    await answer.arrayBuffer()
    return answer.status
  }
  const put = (name: string, size: number) =>
    send(`/upload/${name}`, { method: 'PUT', body: Buffer.alloc(size) })
  /** Answers are counted when they have ended, which a client may know sooner. */
  const counted = (requests: number) =>
    until('all requests are counted', async () => {
      const { value } = await scrape(server)
      return value('holdfast_http_requests_total') === requests
    })

  it('counts requests by route, status and outcome, small files from memory among them', async () => {
    await put('a.txt', 100)
    await put('large', 1001)
    for (let n = 0; n < 3; n++) await send('/serve/a.txt')
    await send('/serve/none')
    await send('/list', { headers: { ...credentials, 'x-auth-password': 'wrong' } })
    await send('/list', { headers: {} })
    await send('/ping')
    await send('/nowhere')
    await counted(10)
    const { value } = await scrape(server)
    const requests = (route: string, status: string, outcome: string) =>
      value('holdfast_http_requests_total', { route, status, outcome })
    expect(requests('put', '200', 'ok')).to.equal(1)
    expect(requests('put', '413', 'refused')).to.equal(1)
    expect(requests('serve', '200', 'ok')).to.equal(3)
    expect(requests('serve', '400', 'refused')).to.equal(1)
    expect(requests('list', '400', 'refused')).to.equal(2)
    expect(requests('ping', '200', 'ok')).to.equal(1)
    expect(requests('other', '404', 'refused')).to.equal(1)
    expect(requests('put', '500', 'failed')).to.equal(0)
    const problems = (code: string) => value('holdfast_http_problems_total', { code })
    expect(problems('file-too-large')).to.equal(1)
    expect(problems('invalid-credentials')).to.equal(1)
    expect(problems('unexpected')).to.equal(0)
    const logins = (outcome: string) => value('holdfast_logins_total', { outcome })
    expect(logins('accepted')).to.equal(6)
    expect(logins('refused')).to.equal(1)
    expect(logins('missing')).to.equal(1)
    expect(value('holdfast_password_check_duration_seconds_count')).to.equal(2)
    expect(value('holdfast_http_request_duration_seconds_count', { route: 'serve' })).to.equal(4)
    expect(value('holdfast_http_received_bytes_total', { route: 'put' })).to.be.above(100)
    expect(value('holdfast_http_sent_bytes_total', { route: 'serve' })).to.be.above(300)
    const store = (operation: string) =>
      value('holdfast_store_operation_duration_seconds_count', { operation })
    expect(store('put')).to.equal(1)
    expect(store('open')).to.equal(4)
    expect(value('holdfast_store_errors_total')).to.equal(0)
    expect(value('holdfast_ready')).to.equal(1)
    expect(value('holdfast_customers')).to.equal(1)
    expect(value('holdfast_store_free_bytes')).to.be.above(0)
  })

  it('reports an upload while it is under way, and that it broke off', async () => {
    const connection = await openConnection(server.port)
    connection.write(`${uploadHead('a.txt', 100)}the beginning`)
    await until('the upload is under way', async () => {
      const { value } = await scrape(server)
      return value('holdfast_uploads_under_way') === 1
    })
    const during = await scrape(server)
    expect(during.value('holdfast_http_requests_under_way')).to.equal(1)
    expect(during.value('holdfast_http_connections')).to.equal(1)
    connection.socket.destroy()
    await counted(1)
    await until('nothing is under way', async () => {
      const { value } = await scrape(server)
      return (
        value('holdfast_uploads_under_way') === 0 &&
        value('holdfast_http_requests_under_way') === 0 &&
        value('holdfast_http_connections') === 0
      )
    })
    const after = await scrape(server)
    expect(after.value('holdfast_http_requests_total', { outcome: 'aborted' })).to.equal(1)
    expect(after.value('holdfast_store_errors_total')).to.equal(0)
  })

  it('says that a file is refused, until it is as it was', async () => {
    const original = await readFile(join(site.path, 'customers.yaml'), 'utf8')
    const values = async () => {
      const { value } = await scrape(server)
      return {
        refused: value('holdfast_reload_refused', { what: 'customers' }),
        refusals: value('holdfast_reloads_total', { what: 'customers', outcome: 'refused' }),
        taken: value('holdfast_reloads_total', { what: 'customers', outcome: 'taken' }),
        customers: value('holdfast_customers'),
        errors: value('holdfast_log_lines_total', { level: 'error' }),
      }
    }
    const calm = { refused: 0, refusals: 0, taken: 0, customers: 1, errors: 0 }
    expect(await values()).to.deep.equal(calm)
    await site.write('customers.yaml', 'customers: nobody\n')
    await server.logged('customers file refused')
    expect(await values()).to.deep.include({ ...calm, refused: 1, refusals: 1, errors: 1 })
    await site.write('customers.yaml', original)
    await until('the old file is taken', async () => (await values()).refused === 0)
    const other = `${original}  - name: other\n    password: correct horse\n`
    await site.write('customers.yaml', other)
    await server.logged('customers reloaded')
    expect(await values()).to.deep.include({ customers: 2, taken: 1, refused: 0 })
  })

  it('blames the store for what it fails in', async () => {
    await put('a.txt', 100)
    await rename(join(site.path, 'data/files'), join(site.path, 'data/away'))
    expect(await send('/serve/b.txt')).to.equal(503)
    await counted(2)
    const { value } = await scrape(server)
    const code = 'store-unavailable'
    expect(value('holdfast_store_errors_total', { operation: 'open', code })).to.equal(1)
    expect(value('holdfast_http_problems_total', { code })).to.equal(1)
    expect(value('holdfast_http_requests_total', { outcome: 'failed' })).to.equal(1)
  })
})
