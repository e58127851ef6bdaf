import { SetupError } from '@holdfast/core'
import { expect } from 'chai'
import { EngineAwayError } from '../src/engine/engine-errors.ts'
import {
  checkState,
  evictionProblem,
  historyOf,
  parseState,
  productOf,
} from '../src/engine/engine-node.ts'

/** What a good server says, with some fields changed. */
function stateWith(fields: Readonly<Record<string, string>> = {}) {
  const good = { redis_version: '7.2.4', redis_mode: 'standalone', role: 'master' }
  const lines = Object.entries({ ...good, ...fields }).map(([name, value]) => `${name}:${value}`)
  return parseState(['# Server', ...lines, ''].join('\r\n'))
}

describe('parseState', () => {
  it('reads fields, and leaves out titles', () => {
    const state = parseState(
      '# Server\r\nrun_id:abc\r\nos:Linux 6:1 x\r\n\r\n# Other\r\nempty:\r\n',
    )
    expect([...state]).to.deep.equal([
      ['run_id', 'abc'],
      ['os', 'Linux 6:1 x'],
      ['empty', ''],
    ])
  })
})

describe('productOf', () => {
  it('names Valkey, which says the version of Redis that it is compatible with, too', () => {
    expect(productOf(stateWith())).to.equal('Redis 7.2.4')
    expect(productOf(stateWith({ valkey_version: '8.0.1' }))).to.equal('Valkey 8.0.1')
  })
})

describe('historyOf', () => {
  it('changes with the process, and with its replication ID', () => {
    const histories = [
      { run_id: 'a', master_replid: 'x' },
      { run_id: 'b', master_replid: 'x' },
      { run_id: 'a', master_replid: 'y' },
    ].map((fields) => historyOf(stateWith(fields)))
    expect(new Set(histories).size).to.equal(3)
  })
})

describe('checkState', () => {
  const check = (
    fields: Readonly<Record<string, string>>,
    kind: 'single' | 'sentinel' | 'cluster',
  ) => checkState('HOST:1', stateWith(fields), { kind, prefix: 'holdfast' })

  it('takes Redis from version 7 on, and Valkey', () => {
    for (const version of ['7.0.0', '7.4.1', '8.0.0', '10.0.0']) {
      check({ redis_version: version }, 'single')
    }
    check({ valkey_version: '9.0.0' }, 'single')
    for (const version of ['6.2.14', '2.8', 'unknown']) {
      expect(() => check({ redis_version: version }, 'single'), version).to.throw(SetupError, 'old')
    }
  })

  it('refuses a replica, unless Sentinels or a Cluster may just be choosing another master', () => {
    expect(() => check({ role: 'slave' }, 'single')).to.throw(SetupError, 'is a replica')
    expect(() => check({ role: 'slave' }, 'sentinel')).to.throw(EngineAwayError, 'READONLY')
    const node = { role: 'slave', redis_mode: 'cluster' }
    expect(() => check(node, 'cluster')).to.throw(EngineAwayError, 'READONLY')
  })

  it('refuses a server of another mode than the URL says', () => {
    expect(() => check({ redis_mode: 'sentinel' }, 'single')).to.throw(SetupError, 'is a Sentinel')
    expect(() => check({ redis_mode: 'cluster' }, 'single')).to.throw(SetupError, 'of a Cluster')
    check({ redis_mode: 'cluster' }, 'cluster')
  })
})

describe('evictionProblem', () => {
  it('is there where a limit of memory and a policy that drops keys come together', () => {
    const problem = (policy: string, limit: string) =>
      evictionProblem(stateWith({ maxmemory_policy: policy, maxmemory: limit }))
    expect(problem('noeviction', '1000')).to.equal(undefined)
    expect(problem('allkeys-lru', '0')).to.equal(undefined)
    expect(problem('allkeys-lru', '1000')).to.include('allkeys-lru')
    expect(problem('volatile-ttl', '1000')).to.include('all keys of holdfast have a time to live')
    expect(evictionProblem(stateWith())).to.equal(undefined)
  })
})
