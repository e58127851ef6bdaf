import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import type { ContainerRuntimeClient } from 'testcontainers'
import { removeAbandoned } from '../../src/minio/engine.ts'

describe('removeAbandoned', () => {
  it('takes a process that has ended for gone, also where its parent has not fetched how', async function () {
    if (process.platform !== 'linux') this.skip()
    // The shell becomes a program that waits for no child, before its child ends.
    const script = 'sleep 1 & echo $!; exec sleep 600'
    const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const [zombie] = (await once(createInterface(parent.stdout), 'line')) as [string]
      expect(process.kill(Number(zombie), 0)).to.equal(true)
      let removed: readonly string[] = []
      for (let tries = 0; tries < 500 && removed.length === 0; tries++) {
        await setTimeout(10)
        removed = await removedOf(zombie)
      }
      expect(removed).to.deep.equal(['one'])
      expect(await removedOf(`${process.pid}`)).to.deep.equal([])
    } finally {
      parent.kill('SIGKILL')
    }
  })
})

/** What is removed where the process `pid` of this machine owns one container. */
async function removedOf(pid: string): Promise<readonly string[]> {
  const removed: string[] = []
  const Labels = { 'holdfast.owner': `${pid}@${hostname()}` }
  const dockerode = {
    listContainers: async () => [{ Id: 'one', Labels }],
    listNetworks: async () => [],
    listVolumes: async () => ({ Volumes: [] }),
    getContainer: (id: string) => ({ remove: async () => void removed.push(id) }),
  }
  await removeAbandoned({ container: { dockerode } } as unknown as ContainerRuntimeClient)
  return removed
}
