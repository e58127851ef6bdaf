import { existsSync } from 'node:fs'
import { expect } from 'chai'
import {
  startRedis,
  startRedisCluster,
  startSentinels,
  type RunningRedis,
} from '../../src/redis/index.ts'
import { rejection } from '../../src/until.ts'

describe('startRedis', () => {
  const use = async (start: Promise<RunningRedis>, act: (redis: RunningRedis) => Promise<void>) => {
    const redis = await start
    try {
      await act(redis)
    } finally {
      await redis.stop()
    }
  }

  it('starts a server that answers, and ends it with its data', async () => {
    let pid = 0
    let dir = ''
    await use(startRedis(), async (redis) => {
      pid = redis.pid
      expect(redis.url).to.equal(`redis://127.0.0.1:${redis.port}`)
      expect(await redis.run('PING')).to.equal('PONG')
      expect((await rejection(redis.run('NO'))).message).to.include('unknown command')
      dir = (await redis.run('CONFIG', 'GET', 'dir')).split('\n')[1] ?? ''
      expect(existsSync(dir)).to.equal(true)
    })
    expect(() => process.kill(pid, 0)).to.throw('ESRCH')
    expect(existsSync(dir)).to.equal(false)
  })

  it('starts it again on the same port, without its data', async () => {
    await use(startRedis(), async (redis) => {
      await redis.run('SET', 'a', '1')
      const { pid } = redis
      await redis.restart()
      expect(redis.pid).to.not.equal(pid)
      expect(await redis.run('EXISTS', 'a')).to.equal('0')
    })
  })

  it('asks for a password, speaks TLS, and has users', async () => {
    await use(startRedis({ password: 'secret', tls: true }), async (redis) => {
      expect(redis.url).to.match(/^rediss:/)
      expect(redis.ca).to.include('BEGIN CERTIFICATE')
      expect(await redis.run('PING')).to.equal('PONG')
    })
    await use(startRedis({ acl: ['user bob on >secret +ping'] }), async (redis) => {
      expect(await redis.run('ACL', 'USERS')).to.include('bob')
    })
  })

  it('reports why a server does not start', async () => {
    const error = await rejection(startRedis({ args: ['--no-such-option', '1'] }))
    expect(error.message).to.include('ended')
  })
})

describe('startSentinels', () => {
  it('starts Sentinels that make another server the master', async () => {
    const sentinels = await startSentinels()
    try {
      const before = await sentinels.master()
      expect(before).to.equal(sentinels.servers[0])
      await sentinels.failover()
      const after = await sentinels.master()
      expect(after).to.equal(sentinels.servers[1])
      expect(await after.run('SET', 'a', '1')).to.equal('OK')
    } finally {
      await sentinels.stop()
    }
  })
})

describe('startRedisCluster', () => {
  it('starts three masters, and moves slots with their keys', async () => {
    const cluster = await startRedisCluster()
    try {
      const [first, second] = cluster.servers
      if (first === undefined || second === undefined) throw new Error('There are three servers')
      const slot = Number(await first.run('CLUSTER', 'KEYSLOT', 'a'))
      await cluster.moveSlot(slot, first)
      expect(await first.run('SET', 'a', '1')).to.equal('OK')
      await cluster.moveSlot(slot, second)
      expect(await second.run('GET', 'a')).to.equal('1')
    } finally {
      await cluster.stop()
    }
  })
})
