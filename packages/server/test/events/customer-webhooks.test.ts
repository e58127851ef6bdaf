import { type HoldfastServer, runHoldfast, scrape, until, useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { accept, type Arrival, type Receiver, refuse, startReceiver } from './receiver.ts'

const trail = 'audit.jsonl'
const secretOf = (byte: number) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`
const aliceSecret = secretOf(1)
const bobSecret = secretOf(2)

describe('holdfast serve, with webhooks of customers,', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()
  let ofAlice: Receiver
  let ofBob: Receiver
  beforeEach(async () => {
    ofAlice = await startReceiver(accept, { key: aliceSecret })
    ofBob = await startReceiver(accept, { key: bobSecret })
  })
  afterEach(async () => {
    await ofAlice.close()
    await ofBob.close()
  })

  interface Written {
    readonly alice?: string | undefined
    readonly bob?: string | undefined
  }
  const write = ({ alice, bob }: Written) => {
    const customer = (name: string, url: string | undefined, secret: string) =>
      `  - name: ${name}\n    password: ${name}\n${url === undefined ? '' : `    webhook: ${url}\n    webhookSecret: ${secret}\n`}`
    const text = `customers:\n${customer('alice', alice, aliceSecret)}${customer('bob', bob, bobSecret)}`
    return holdfast.site.write('customers.yaml', text)
  }
  const flags = ['--audit-log', trail, '--webhook-allow-private']
  const start = (args: readonly string[] = []) => holdfast.start([...flags, ...args])
  /** Writes other webhooks, and waits until `begun` deliveries have begun since the start. */
  const reload = async (server: HoldfastServer, written: Written, begun: number) => {
    await write(written)
    server.signal('SIGHUP')
    await server.logged('webhook: the changes of the customer are delivered', begun)
  }
  const put = async ({ url }: HoldfastServer, customer: string, name: string) => {
    const answer = await fetch(`${url}/upload/${name}`, {
      method: 'PUT',
      headers: { 'x-auth-name': customer, 'x-auth-password': customer },
      body: 'a',
    })
    expect(await answer.text()).to.equal('OK')
  }
  const summaries = (arrivals: readonly Arrival[]) => arrivals.map(({ subject }) => subject)
  const accepted = ({ accepted: all }: Receiver, ...names: readonly string[]) =>
    until(
      () => `${names.join()} are accepted: ${summaries(all).join()}`,
      () => summaries(all).join() === names.join(),
    )

  for (const args of [[], ['--workers', '2']]) {
    it(`gives each only its own changes, one not waiting for another ${args.join(' ')}`, async () => {
      ofAlice.behave(refuse(500))
      await write({ alice: ofAlice.url, bob: ofBob.url })
      const server = await start(args)
      for (const name of ['1', '2', '3']) {
        await put(server, 'alice', name)
        await put(server, 'bob', name)
      }
      await accepted(ofBob, 'bob/1', 'bob/2', 'bob/3')
      ofAlice.behave(accept)
      await accepted(ofAlice, 'alice/1', 'alice/2', 'alice/3')
      expect(ofAlice.arrivals[0]?.source).not.to.equal(ofBob.arrivals[0]?.source)
    })
  }

  it('begins with a new receiver at once, and goes on where one was taken away and given again', async () => {
    await write({})
    const server = await start()
    await put(server, 'alice', 'before')
    await reload(server, { alice: ofAlice.url }, 1)
    await put(server, 'alice', '1')
    await accepted(ofAlice, 'alice/1')
    await reload(server, { bob: ofBob.url }, 2)
    await put(server, 'alice', '2')
    await put(server, 'bob', '1')
    await accepted(ofBob, 'bob/1')
    await reload(server, { alice: ofAlice.url }, 3)
    await accepted(ofAlice, 'alice/1', 'alice/2')
  })

  it('follows another URL, and ends with 410 only for the receiver that answers it', async () => {
    ofAlice.behave(refuse(410))
    await write({ alice: ofAlice.url, bob: ofBob.url })
    const server = await start()
    await put(server, 'alice', '1')
    const line = await server.logged('webhook: the receiver wants no more events')
    expect(line).to.include({ customer: 'alice' })
    await put(server, 'bob', '1')
    await accepted(ofBob, 'bob/1')
    const other = await startReceiver(accept, { key: aliceSecret })
    try {
      await reload(server, { alice: other.url, bob: ofBob.url }, 3)
      await accepted(other, 'alice/1')
    } finally {
      await other.close()
    }
  })

  it('loses none where it is killed', async () => {
    await write({ alice: ofAlice.url })
    ofAlice.behave(refuse(503))
    const first = await start()
    for (const name of ['1', '2', '3']) await put(first, 'alice', name)
    await until('an attempt failed', () => ofAlice.arrivals.length > 0)
    await first.kill()
    ofAlice.behave(accept)
    await start()
    await accepted(ofAlice, 'alice/1', 'alice/2', 'alice/3')
  })

  it('measures the delay of all customers, apart from that of the server', async () => {
    ofAlice.behave(refuse(500))
    await write({ alice: ofAlice.url, bob: ofBob.url })
    const server = await start(['--admin-port', '0'])
    await put(server, 'alice', '1')
    await put(server, 'bob', '1')
    await accepted(ofBob, 'bob/1')
    await until('an attempt failed', () => ofAlice.arrivals.length > 0)
    const metrics = await scrape(server)
    const [delay, ...others] = metrics.samples('holdfast_webhook_delay_seconds')
    expect(others).to.deep.equal([])
    expect(delay?.labels).to.deep.equal({ receiver: 'customers' })
    expect(delay?.value).to.be.greaterThan(0)
    const counts = metrics.samples('holdfast_webhook_events_total')
    expect(counts.find(({ labels }) => labels['outcome'] === 'accepted')?.value).to.equal(1)
  })

  it('sends the events of a customer once more', async () => {
    await write({ alice: ofAlice.url, bob: ofBob.url })
    const server = await start()
    await put(server, 'bob', '1')
    await put(server, 'alice', '1')
    await accepted(ofAlice, 'alice/1')
    const replay = (customer: string) =>
      runHoldfast(['events', 'replay', ...flags, '--since', '1h', '--customer', customer], {
        cwd: holdfast.site.path,
      })
    expect(await replay('alice')).to.include({ code: 0, stdout: '1 event was accepted\n' })
    expect(ofAlice.accepted[1]?.id).to.equal(ofAlice.accepted[0]?.id)
    expect((await replay('carol')).stderr).to.include('no webhook of a customer "carol"')
  })

  const undeliverable = {
    'without an audit trail': [[], /events of the webhook of "alice" .*there is none/],
    unencrypted: [['--audit-log', trail], /webhook of "alice" would cross .* unencrypted/],
    'unencrypted, with several processes': [
      ['--audit-log', trail, '--workers', '2'],
      /webhook of "alice" would cross .* unencrypted/,
    ],
  } as const
  for (const [how, [args, reason]] of Object.entries(undeliverable)) {
    it(`starts for all others where the events of one customer cannot be delivered, ${how}`, async () => {
      await write({ alice: ofAlice.url })
      const server = await holdfast.start(args)
      const line = await server.logged('webhook: the customer gets no events')
      expect(line).to.include({ level: 50, customer: 'alice' })
      expect(line['reason']).to.match(reason)
      for (const customer of ['alice', 'bob']) await put(server, customer, '1')
      expect(ofAlice.arrivals).to.deep.equal([])
    })
  }

  for (const bob of [undefined, 'https://example.invalid/']) {
    it(`goes on where no event can be delivered later, ${bob ? 'beside a receiver' : 'without one before'}`, async () => {
      await write({ bob })
      const server = await holdfast.start(['--audit-log', trail, '--admin-port', '0'])
      await write({ alice: ofAlice.url, bob: 'https://example.invalid/' })
      server.signal('SIGHUP')
      const line = await server.logged('webhook: the customer gets no events')
      expect(line).to.include({ customer: 'alice' })
      expect(line['reason']).to.include('unencrypted')
      await put(server, 'alice', '1')
      // The other customer's delivery is there all the same.
      const failed = async () => (await scrape(server)).samples('holdfast_webhook_delay_seconds')
      await until('the other one has a delivery', async () => (await failed()).length === 1)
      const [count] = (await scrape(server)).samples('holdfast_webhook_failed_customers')
      expect(count?.value).to.equal(1)
    })
  }

  it('says for whom the position cannot be kept', async () => {
    await write({})
    const server = await start()
    await holdfast.site.write(`${trail}.customers`, 'a file in place of the directory')
    await write({ alice: ofAlice.url, bob: ofBob.url })
    server.signal('SIGHUP')
    const line = await server.logged('webhook: the customer gets no events', 2)
    expect(line).to.include({ customer: 'bob' })
    await put(server, 'alice', '1')
  })

  it('is examined by holdfast doctor', async () => {
    await write({ alice: ofAlice.url, bob: 'https://none.invalid/' })
    const doctor = await runHoldfast(['doctor', ...flags], { cwd: holdfast.site.path })
    expect(doctor.stdout).to.match(/webhook .*none\.invalid of the webhook of "bob" is unknown/)
    expect(doctor.stdout).to.match(
      /webhook .*http:\/\/127\.0\.0\.1:\d+ gets the changes of "alice"/,
    )
    const closed = await runHoldfast(['doctor', '--audit-log', trail], { cwd: holdfast.site.path })
    expect(closed.stdout).to.match(/problem +webhook .*of "alice" would cross .* unencrypted/)
    expect(closed.stdout).to.match(/webhook .*none\.invalid of the webhook of "bob" is unknown/)
  })
})
