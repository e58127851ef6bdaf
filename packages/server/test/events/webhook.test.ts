import { copyFile, rename, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import {
  credentials,
  runHoldfast,
  scrape,
  until,
  useHoldfast,
  type HoldfastServer,
} from '@holdfast/testing'
import { expect } from 'chai'
import { type Arrival, type Receiver, refuse, secret, startReceiver } from './receiver.ts'

const trail = 'audit.jsonl'
const env = { HOLDFAST_WEBHOOK_SECRET: secret }

describe('holdfast serve --webhook', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()
  let receiver: Receiver
  beforeEach(async () => {
    receiver = await startReceiver()
  })
  afterEach(() => receiver.close())

  const flags = () => ['--audit-log', trail, '--webhook', receiver.url, '--webhook-allow-private']
  const start = (args: readonly string[] = []) => holdfast.start([...flags(), ...args], { env })
  const ask = async ({ url }: HoldfastServer, method: string, path: string, body?: string) => {
    const answer = await fetch(url + path, {
      method,
      headers: credentials,
      ...(body !== undefined && { body }),
    })
    await answer.text()
    expect(answer.status, path).to.equal(200)
  }
  const summaries = (arrivals: readonly Arrival[]) =>
    arrivals.map(({ type, data }) => `${type} ${String(data['file'])}`)
  const accepted = (count: number) =>
    until(
      () => `${count} events are accepted: ${summaries(receiver.accepted).join(', ')}`,
      () => receiver.accepted.length >= count,
    )

  for (const args of [[], ['--workers', '2']]) {
    it(`delivers changes in order ${args.join(' ')}`, async () => {
      const server = await start(args)
      await ask(server, 'PUT', '/upload/a', 'a')
      await ask(server, 'GET', '/list')
      await ask(server, 'POST', '/rename/a', '{"to":"b"}')
      await ask(server, 'DELETE', '/delete/b')
      await accepted(3)
      expect(summaries(receiver.arrivals)).to.deep.equal([
        'holdfast.upload a',
        'holdfast.rename a',
        'holdfast.delete b',
      ])
      expect(receiver.arrivals[0]?.subject).to.equal('demo/a')
    })
  }

  it('answers requests as ever while the receiver is away, and delivers afterwards', async () => {
    receiver.behave(refuse(500))
    const server = await start(['--admin-port', '0'])
    for (let count = 0; count < 20; count++) await ask(server, 'PUT', `/upload/${count}`, 'a')
    await until('an attempt failed', () => receiver.arrivals.length > 0)
    const { value } = await scrape(server).then((all) => ({
      value: all.samples('holdfast_webhook_delay_seconds')[0]?.value ?? 0,
    }))
    expect(value).to.be.within(0.001, 60)
    receiver.behave((response) => void response.writeHead(200).end())
    await accepted(20)
    const names = receiver.accepted.map(({ data }) => data['file'])
    expect(names).to.deep.equal(Array.from({ length: 20 }, (_, index) => `${index}`))
    const after = await scrape(server)
    const counts = after.samples('holdfast_webhook_events_total')
    expect(counts.find(({ labels }) => labels['outcome'] === 'accepted')?.value).to.equal(20)
  })

  it('loses none where it is killed again and again, nor where the trail is rotated', async () => {
    const names: string[] = []
    for (let round = 0; round < 4; round++) {
      const server = await start()
      for (let count = 0; count < 25; count++) {
        const name = `${round}-${count}`
        await ask(server, 'PUT', `/upload/${name}`, 'a')
        names.push(name)
      }
      if (round > 1) await accepted(1)
      await server.kill()
      await rename(join(holdfast.site.path, trail), join(holdfast.site.path, `${trail}-${round}`))
    }
    await start()
    const firsts = () => [...new Map(receiver.accepted.map((each) => [each.id, each])).values()]
    await until('all are delivered', () => firsts().length >= names.length)
    expect(firsts().map(({ data }) => data['file'])).to.deep.equal(names)
  })

  for (const how of ['moved', 'copied and truncated']) {
    it(`loses none while the trail is ${how} under uploads of several workers`, async () => {
      const server = await start(['--workers', '2'])
      const path = join(holdfast.site.path, trail)
      const uploaded: string[] = []
      for (let round = 0; round < 4; round++) {
        const names = Array.from({ length: 30 }, (_, index) => `${round}-${index}`)
        const uploads = Promise.all(names.map((name) => ask(server, 'PUT', `/upload/${name}`, 'a')))
        // What is written between the copy and the truncation is lost, so that one waits for the uploads.
        if (how !== 'moved') await uploads
        if (how === 'moved') await rename(path, `${path}-${round}`)
        else await copyFile(path, `${path}-${round}`).then(() => truncate(path))
        await uploads
        uploaded.push(...names)
      }
      const files = () => new Set(receiver.accepted.map(({ data }) => data['file']))
      await until('all are delivered', () => files().size >= uploaded.length)
      expect(receiver.arrivals.map(({ type }) => type)).not.to.include('holdfast.omitted')
      expect(receiver.arrivals).to.have.length(uploaded.length)
    })
  }

  it('sends the events of a time once more, with their ids', async () => {
    const server = await start()
    await ask(server, 'PUT', '/upload/a', 'a')
    await ask(server, 'PUT', '/upload/b', 'a')
    await accepted(2)
    const since = receiver.accepted[1]?.time ?? ''
    const options = { cwd: holdfast.site.path, env }
    const replay = (...args: string[]) =>
      runHoldfast(['events', 'replay', ...flags(), ...args], options)
    expect(await replay('--since', '1h')).to.deep.equal({
      code: 0,
      stdout: '2 events were accepted\n',
      stderr: '',
    })
    expect(receiver.accepted[2]?.id).to.equal(receiver.accepted[0]?.id)
    expect(await replay('--since', since)).to.have.property('stdout', '1 event was accepted\n')
    receiver.behave(refuse(410))
    const refused = await replay('--since', since)
    expect(refused).to.include({ code: 1, stdout: '0 events were accepted\n' })
    expect(refused.stderr).to.include('status 410').and.to.include(`--since ${since}`)
    const wrong = await replay('--since', 'yesterday')
    expect(wrong.stderr).to.include('--since "yesterday" is not a time')
  })

  it('takes another secret on SIGHUP, and keeps the earlier one when that is wrong', async () => {
    const file = await holdfast.site.write('secret', `${secret}\n`)
    const server = await holdfast.start(flags(), { env: { HOLDFAST_WEBHOOK_SECRET_FILE: file } })
    await holdfast.site.write('secret', 'none')
    server.signal('SIGHUP')
    await server.logged('webhook secret refused')
    const other = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
    await ask(server, 'PUT', '/upload/a', 'a')
    await accepted(1)
    await holdfast.site.write('secret', `${other} ${secret}`)
    server.signal('SIGHUP')
    let count = 1
    await until('there are two signatures', async () => {
      await ask(server, 'PUT', '/upload/a', 'a')
      await accepted(++count)
      return String(receiver.accepted.at(-1)?.headers['webhook-signature']).includes(' ')
    })
  })

  it('does not start where no event could be delivered', async () => {
    const options = { cwd: holdfast.site.path, env }
    const serve = ['serve', '--port', '0', '--webhook', 'https://example.com/']
    for (const args of [[], ['--workers', '2']]) {
      const outcome = await runHoldfast([...serve, ...args], options)
      expect(outcome.code).to.equal(1)
      expect(outcome.stderr + outcome.stdout).to.match(
        /audit trail, and there is none\W+give --audit/i,
      )
    }
  })

  it('is examined by holdfast doctor', async () => {
    const options = { cwd: holdfast.site.path, env }
    const doctor = (...args: string[]) => runHoldfast(['doctor', ...args], options)
    const good = await doctor(...flags())
    expect(good.stdout).to.match(/webhook .*http:\/\/127\.0\.0\.1:\d+ gets the changes of audit/)
    const bad = await doctor('--webhook', 'https://127.0.0.1/', '--audit-log', trail)
    expect(bad.stdout).to.match(/webhook .*127\.0\.0\.1, which is not public/)
    const none = await doctor('--webhook', 'https://127.0.0.1/')
    expect(none).to.have.property('code', 1)
    expect(none.stdout).to.match(/webhook .*there is none/)
  })
})
