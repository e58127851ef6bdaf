import { spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import {
  hasOnlyToBeReaped,
  identifyProcess,
  isRunning,
  isDead,
  tempDirectoryName,
  parseTempDirectoryName,
} from '../../src/temp/temp-owner.ts'

const self = identifyProcess()
const now = 1_800_000_000_000
const minute = 60_000
const observation = { self, now, heartbeat: now, bootedAt: now - 10 * minute, isLocal: false }
const silentFor = (ms: number) => ({ ...observation, heartbeat: now - ms })

/** The pid of a process that has ended and been waited for. */
const endedPid = () => spawnSync(process.execPath, ['--version']).pid

describe('tempDirectoryName', () => {
  it('is undone by parseTempDirectoryName', () => {
    const owner = { ...self, hostname: 'web-1.example' }
    expect(parseTempDirectoryName(tempDirectoryName(owner, 'abc123'))).to.deep.equal(owner)
    const strange = { ...self, hostname: 'My Host/é' }
    expect(parseTempDirectoryName(tempDirectoryName(strange, 'abc123'))).to.have.property(
      'hostname',
      'my_host__',
    )
  })

  it('is distinct from other names', () => {
    for (const other of ['', 'tmp', '1-2-3-x-4@host', '12', '../1-2-3-a-4@host']) {
      expect(parseTempDirectoryName(other), other).to.equal(undefined)
    }
  })
})

describe('isRunning', () => {
  it('takes a process that has ended, and that its parent does not reap, for one that does not run', async () => {
    // `cat`, which the shell becomes, does not know the shell's child. The child ends at the end of descriptor 3, after `cat` has begun:
    // the shell itself would reap it.
    const parent = spawn('sh', ['-c', '{ read -r _ <&3; } & echo $!; exec cat'], {
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
    })
    const [stdin, stdout, , end] = parent.stdio as [Writable, Readable, null, Writable, undefined]
    const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
    const pid = Number((await lines.next()).value)
    stdin.write('it is cat\n')
    expect((await lines.next()).value).to.equal('it is cat')
    expect(isRunning(pid), 'before its end').to.equal(true)
    end.end()
    // Other systems do not say it.
    while (process.platform === 'linux' && isRunning(pid)) await setTimeout(10)
    expect(isRunning(parent.pid ?? 0)).to.equal(true)
    expect(process.kill(pid, 0), 'it exists').to.equal(true)
    parent.kill()
  })

  it('takes one that was killed, of which a thread is left, for one that runs', () => {
    const stat = (state: string, threads: number) => [
      state,
      ...Array<string>(16).fill('0'),
      `${threads}`,
    ]
    expect(hasOnlyToBeReaped(stat('Z', 1))).to.equal(true)
    expect(hasOnlyToBeReaped(stat('X', 0))).to.equal(true)
    expect(hasOnlyToBeReaped(stat('Z', 2))).to.equal(false)
    expect(hasOnlyToBeReaped(stat('S', 1))).to.equal(false)
    expect(hasOnlyToBeReaped([])).to.equal(false)
  })
})

describe('isDead', () => {
  it('spares a process that lives, however silent it is', () => {
    expect(isDead(self, silentFor(24 * 60 * minute))).to.equal(false)
  })

  it('knows that a process has ended, whatever it showed lately', () => {
    expect(isDead({ ...self, pid: endedPid() }, observation)).to.equal(true)
  })

  it('distinguishes a process from an earlier one with its pid', function () {
    // Only Linux reports when a process started; elsewhere the heartbeat decides.
    const earlier = { ...self, startTime: self.startTime + 1 }
    expect(isDead(earlier, observation)).to.equal(process.platform === 'linux')
    expect(isDead(earlier, silentFor(16 * minute))).to.equal(true)
  })

  it('waits fifteen minutes for a process of another container or machine', () => {
    const others = [
      { ...self, pid: endedPid(), pidNamespace: self.pidNamespace + 1 },
      { ...self, pid: endedPid(), bootId: 'abc', hostname: 'elsewhere' },
    ]
    for (const other of others) {
      expect(isDead(other, silentFor(14 * minute))).to.equal(false)
      expect(isDead(other, silentFor(16 * minute))).to.equal(true)
    }
  })

  it('takes a process that was last seen before this machine was booted for dead', () => {
    const beforeBoot = { ...parseTempDirectoryName(tempDirectoryName(self, 'a'))!, bootId: 'abc' }
    expect(isDead(beforeBoot, silentFor(11 * minute))).to.equal(true)
    expect(isDead(beforeBoot, silentFor(9 * minute)), 'another machine of this name').to.equal(
      false,
    )
  })

  it('takes a process of an earlier boot for dead at once, where the directory is on this machine', () => {
    const local = { ...silentFor(0), isLocal: true }
    const beforeBoot = { ...parseTempDirectoryName(tempDirectoryName(self, 'a'))!, bootId: 'abc' }
    expect(isDead(beforeBoot, local)).to.equal(true)
    for (const other of [{ hostname: 'elsewhere' }, { bootId: '' }]) {
      expect(isDead({ ...beforeBoot, ...other }, local), JSON.stringify(other)).to.equal(false)
    }
    expect(isDead(self, local), 'this very process').to.equal(false)
  })
})
