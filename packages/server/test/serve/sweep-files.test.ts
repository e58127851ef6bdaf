import { createMemoryBlobStore } from '@holdfast/core/memory'
import { createFileService, type Credential, type FileService } from '@holdfast/core'
import type { AuditEvent } from '@holdfast/http-koa'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import pino from 'pino'
import { sweepFiles } from '../../src/serve/sweeps.ts'

const hour = 3_600_000
const day = 24 * hour

interface Line {
  readonly level: number
  readonly msg: string
  readonly customer?: string
  readonly files?: number
  readonly reason?: string
  readonly err?: { readonly message: string }
}

/** A service whose clock stands two days after its rules were set, and a sweep over it. */
async function open(
  change: (service: FileService) => Pick<FileService, 'expireFiles'> = (one) => one,
) {
  let time = 1_000_000_000_000
  let skew = 0
  const lines: Line[] = []
  const events: AuditEvent[] = []
  const store = createMemoryBlobStore(() => new Date(time))
  const service = createFileService({ store, now: () => time })
  const rules: Credential[] = [
    { name: 'alice', passwordHash: 'x', expireAfterMs: 10 * day, quota: 100 },
    { name: 'alice/ci', login: 'ci', passwordHash: 'x', expireAfterMs: 10 * day, may: ['list'] },
    { name: 'bob', passwordHash: 'x' },
  ]
  for (const name of ['alice', 'bob']) {
    await service.filesOf({ name }).upload('old', new Uint8Array(3))
  }
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Line) })
  let sweeps = 0
  let notes = 0
  const counting = change(service)
  const begin = (onEvent: (event: AuditEvent) => void = () => {}) =>
    sweepFiles(
      {
        async noteExpiry(customer) {
          notes++
          const outcome = await service.noteExpiry?.(customer)
          if (outcome === undefined) throw new Error('The memory store can expire')
          return outcome
        },
        async expireFiles(customer, options) {
          const outcome = await counting.expireFiles?.(customer, options)
          sweeps++
          if (outcome === undefined) throw new Error('The memory store can expire')
          return outcome
        },
      },
      {
        log,
        credentials: () => rules,
        find: (name) => rules.find((rule) => rule.name === name),
        audit: async (event) => {
          events.push(event)
          onEvent(event)
        },
        pauseMs: 1,
        clocks: () => ({ wall: time + skew, monotonic: time }),
      },
    )
  const namesOf = async (name: string) => {
    const names: string[] = []
    for await (const page of service.filesOf({ name }).list()) names.push(...page)
    return names
  }
  return {
    ...{ lines, events, rules, namesOf, begin, service },
    sweeps: () => sweeps,
    notes: () => notes,
    wait: (ms: number) => void (time += ms),
    jump: (ms: number) => void (skew += ms),
  }
}

/** Lets hours pass; the sweep, which pauses for a millisecond, applies the rules in each. */
async function passHours(
  { sweeps, wait }: Awaited<ReturnType<typeof open>>,
  hours: number,
  isOver = () => false,
) {
  for (let count = 0; count < hours; count++) {
    const before = sweeps()
    wait(hour)
    await until('it has swept', () => isOver() || sweeps() > before + 1)
  }
}

describe('sweepFiles', function () {
  this.timeout(60_000)

  it('deletes the expired files of customers with a rule, records and logs them', async () => {
    const site = await open()
    const sweeping = site.begin()
    await passHours(site, 239)
    expect(await site.namesOf('alice')).to.deep.equal(['old'])
    await passHours(site, 1)
    await sweeping.close()
    expect(await site.namesOf('alice')).to.deep.equal([])
    expect(await site.namesOf('bob')).to.deep.equal(['old'])
    expect(
      site.events.map(({ event, outcome, customer, file, bytes }) => [
        event,
        outcome,
        customer,
        file,
        bytes,
      ]),
    ).to.deep.equal([['expire', 'ok', 'alice', 'old', 3]])
    // The clock of this test may move while a rule is being noted.
    const lines = site.lines.filter(({ reason }) => reason === undefined)
    expect(lines.map(({ msg, customer, files }) => [msg, customer, files])).to.deep.equal([
      ['files will expire', 'alice', 0],
      ['files expired', 'alice', 1],
    ])
  })

  it('leaves a sweep out after the clock has jumped', async () => {
    const site = await open()
    const sweeping = site.begin()
    await until('it has swept', () => site.sweeps() > 2)
    site.jump(hour)
    await until('it has noticed', () =>
      site.lines.some(({ reason }) => reason?.includes('has jumped')),
    )
    await until('it goes on', () => site.sweeps() > 6)
    await sweeping.close()
    expect(site.lines.filter(({ reason }) => reason?.includes('has jumped'))).to.have.length(1)
  })

  it('goes on after a failure, and logs it', async () => {
    let isDown = true
    const site = await open((service) => ({
      async expireFiles(customer, options) {
        if (isDown) {
          isDown = false
          throw new Error('down')
        }
        return service.expireFiles?.(customer, options) ?? { kind: 'done', expired: 0 }
      },
    }))
    const sweeping = site.begin()
    await until('it has swept again', () => site.sweeps() > 2)
    await sweeping.close()
    expect(site.lines[0]).to.deep.include({
      level: 40,
      msg: 'files cannot expire',
      customer: 'alice',
    })
    expect(site.lines[0]?.err?.message).to.equal('down')
  })

  /** The first sweep comes to a customer whose call lasts until `proceed`; `others` have rules, too. */
  async function openSlow(others: readonly string[]) {
    let calls = 0
    let proceed = () => {}
    const slow = new Promise<void>((resolve) => (proceed = resolve))
    const called: string[] = []
    const site = await open((service) => ({
      async expireFiles(customer, options) {
        called.push(customer.name)
        if (++calls === 1) await slow
        return service.expireFiles?.(customer, options) ?? { kind: 'done', expired: 0 }
      },
    }))
    for (const name of others) {
      site.rules.push({ name, passwordHash: 'x', expireAfterMs: day })
      await site.service.filesOf({ name }).upload('old', new Uint8Array(3))
    }
    const sweeping = site.begin()
    await until('the first customer is called', () => called.length === 1)
    return { ...site, called, proceed, sweeping }
  }

  it('keeps the rules of customers in force whose turn does not come for days, and says when files go', async () => {
    const site = await openSlow(['carol', 'dave'])
    for (let hours = 0; hours < 60; hours++) {
      const before = site.notes()
      site.wait(hour)
      await until('the rules are noted', () => site.notes() > before + 6)
    }
    expect(site.called).to.have.length(1)
    const [first] = site.called
    const announced = site.lines.filter(({ msg }) => msg === 'files will expire')
    expect(announced.map(({ customer, files }) => [customer, files])).to.have.deep.members(
      ['alice', 'carol', 'dave'].filter((name) => name !== first).map((name) => [name, undefined]),
    )
    site.proceed()
    await until('it has swept', () => site.called.length > 3)
    await site.sweeping.close()
    const expired = ['carol', 'dave'].filter((name) => name !== first)
    for (const name of expired) expect(await site.namesOf(name)).to.deep.equal([])
  })

  it('applies the rule that is in force when the turn of the customer comes', async () => {
    const site = await openSlow(['carol', 'dave', 'erin'])
    const removed = site.called[0] === 'erin' ? 'dave' : 'erin'
    const at = site.rules.findIndex(({ name }) => name === removed)
    site.rules.splice(at, 1)
    site.proceed()
    await until('it has swept', () => site.called.length > 5)
    await site.sweeping.close()
    expect(site.called).not.to.include(removed)
  })

  const changes = {
    'is removed': [{}, [1]],
    'is lengthened': [{ expireAfterMs: 100 * day }, [1]],
    'is to keep files from now on': [{ expireAfterMs: 10 * day, keepReplacedMs: day }, [1, 2]],
  } as const
  for (const [how, [rule, expired]] of Object.entries(changes)) {
    it(`deletes no more by a rule that ${how} meanwhile`, async () => {
      const site = await open()
      for (const name of ['old 2', 'old 3']) {
        await site.service.filesOf({ name: 'alice' }).upload(name, new Uint8Array(3))
      }
      const sweeping = site.begin(() => {
        site.rules[0] = { name: 'alice', passwordHash: 'x', ...rule }
      })
      const counts = () =>
        site.lines.filter(({ msg }) => msg === 'files expired').map(({ files }) => files)
      for (let hours = 0; site.events.length === 0; hours++) {
        expect(hours).to.be.lessThan(300)
        await passHours(site, 1, () => site.events.length > 0)
      }
      await until('it is logged', () => counts().length === expired.length)
      await sweeping.close()
      expect(counts()).to.deep.equal(expired)
    })
  }

  it('begins with different customers, so that a process that often stops comes to each', async () => {
    const firsts = new Set<string | undefined>()
    await until('each was the first once', async () => {
      const site = await openSlow(['carol', 'dave'])
      firsts.add(site.called[0])
      site.proceed()
      await site.sweeping.close()
      return firsts.size === 3
    })
  })

  it('says that no rule can be noted, and leaves a wrong clock to the sweep', async () => {
    const site = await open()
    const answers = [
      () => ({ kind: 'wrong-clock', problem: 'the clock is wrong' }) as const,
      () => {
        throw new Error('down')
      },
    ]
    site.service.noteExpiry = async () => (answers.length > 1 ? answers.shift() : answers[0])!()
    const sweeping = site.begin()
    await until('the failure is logged', () =>
      site.lines.some(({ err }) => err?.message === 'down'),
    )
    await sweeping.close()
    expect(site.lines.filter(({ reason }) => reason === 'the clock is wrong')).to.deep.equal([])
  })

  it('sweeps no more once it is closed', async () => {
    const site = await open()
    await site.begin().close()
    const before = site.sweeps()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(site.sweeps()).to.equal(before)
  })
})
