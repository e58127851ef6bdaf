import {
  childrenOf,
  credentials,
  type HoldfastServer,
  until,
  useHoldfast,
  scrape,
  type Scrape,
} from '@holdfast/testing'
import { expect } from 'chai'

describe('/metrics of a server with workers', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()
  let server: HoldfastServer
  beforeEach(async () => {
    server = await holdfast.start(['--workers', '2', '--admin-port', '0'])
  })

  const workers = () => childrenOf(server.pid)
  const put = (name: string) =>
    fetch(`${server.url}/upload/${name}`, { method: 'PUT', headers: credentials, body: 'a' })
  /** The processes whose metrics there are. */
  const processesIn = ({ samples }: Scrape) =>
    samples('process_start_time_seconds')
      .map(({ labels }) => labels['process'])
      .sort()

  it('has what each process has done, and what the server is', async () => {
    const uploads = 20
    await Promise.all(Array.from({ length: uploads }, (_, n) => put(`${n}.txt`)))
    const stored = { route: 'put', status: '200', outcome: 'ok' }
    await until('all are counted', async () => {
      const { value } = await scrape(server)
      return value('holdfast_http_requests_total', stored) === uploads
    })
    const scraped = await scrape(server)
    const { value } = scraped
    expect(processesIn(scraped)).to.deep.equal(['0', '1', 'primary'])
    expect(value('holdfast_logins_total', { outcome: 'accepted' })).to.equal(uploads)
    // Passwords are hashed by the primary, each once.
    expect(value('holdfast_password_check_duration_seconds_count', { process: 'primary' }))
      .to.equal(value('holdfast_password_check_duration_seconds_count'))
      .and.be.above(0)
    expect(value('holdfast_workers')).to.equal(2)
    expect(value('holdfast_workers_silent')).to.equal(0)
    expect(value('holdfast_ready')).to.equal(1)
    expect(value('holdfast_customers')).to.equal(1)
  })

  it('counts workers that die, and goes on with the others', async () => {
    const [victim = 0] = await workers()
    process.kill(victim, 'SIGKILL')
    await until('another one serves', async () => {
      const { value } = await scrape(server)
      return value('holdfast_worker_deaths_total') === 1 && value('holdfast_workers') === 2
    })
    expect(processesIn(await scrape(server))).to.deep.equal(['0', '1', 'primary'])
  })

  it('leaves out a worker that does not answer, and says so', async () => {
    const [stuck = 0] = await workers()
    process.kill(stuck, 'SIGSTOP')
    try {
      const scraped = await scrape(server)
      expect(scraped.value('holdfast_workers_silent')).to.equal(1)
      expect(processesIn(scraped)).to.have.length(2).and.include('primary')
    } finally {
      process.kill(stuck, 'SIGCONT')
    }
    await until('it answers again', async () => {
      const { value } = await scrape(server)
      return value('holdfast_workers_silent') === 0
    })
  })
})
