import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { startFaultSite } from './fault-site.ts'

describe('holdfast serve on a file system that takes no large files', () => {
  it('answers such uploads with 413, leaves no trace of them, and takes smaller ones', async () => {
    await using site = await startFaultSite()
    // What ulimit -f sets; the system's answer is that of a file system at its end.
    execFileSync('prlimit', ['--pid', String(site.server.pid), '--fsize=1000000'])
    for (const name of ['kept', 'new']) {
      const answer = await site.ask('PUT', `/upload/${name}`, Buffer.alloc(1_000_001))
      expect(answer).to.equal('413 File too large')
    }
    expect(await site.ask('GET', '/list')).to.equal('200 ["kept"]')
    expect(await site.ask('GET', '/serve/kept')).to.equal('200 old')
    expect(await site.ask('PUT', '/upload/new', Buffer.alloc(1_000_000))).to.equal('200 OK')
    await site.expectCalm()
  })
})
