import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { holdfastProgram } from '@holdfast/testing'
import { expect } from 'chai'
import { useServer } from './support/use-server.ts'

describe('A reader of standard output that leaves', function () {
  this.timeout(120_000)
  const server = useServer()
  before(async () => {
    await server.client.upload('big', Buffer.alloc(8 * 1024 ** 2, 'x'))
    const body = Buffer.from('x')
    const names = Array.from({ length: 4_000 }, (_, index) => `${'n'.repeat(200)}-${index}`)
    const stored = server.client.uploadMany(names.map((name) => ({ name, body })))
    for await (const { error } of stored) expect(error).to.equal(undefined)
  })

  it('ends the downloads of other files', async () => {
    // The line of the second one finds that the reader has left, long before the third one is there.
    await server.client.upload('small', 'x')
    await server.client.upload('some', Buffer.alloc(300_000))
    const line = 'get small some big -o new/ --json --limit-rate 200k | head -n 1'
    const script = `"${process.execPath}" "${holdfastProgram}" ${line}; echo "\${PIPESTATUS[0]}" >&2`
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], {
      cwd: server.path,
      env: { ...process.env, ...server.env },
    })
    expect(stdout).to.include('"name":"small"')
    expect(stderr).to.equal('141\n')
    expect(await readdir(join(server.path, 'new'))).not.to.include('big')
  })

  for (const [line, read] of [
    ['cat big | head -c 10', 'x'.repeat(10)],
    ['get big -o - | head -c 10', 'x'.repeat(10)],
    ['cat big missing | head -c 10', 'x'.repeat(10)],
    ['ls | head -n 1', 'big\n'],
    [`ls -l | head -n 1 | wc -l`, '1\n'],
    [`ls --json | head -n 1 | wc -l`, '1\n'],
    [`stat 'n*' | head -n 1 | wc -l`, '1\n'],
  ] as const) {
    it(`ends "${line}" with 141, and without a word`, async () => {
      const script = `"${process.execPath}" "${holdfastProgram}" ${line}; echo "\${PIPESTATUS[0]}" >&2`
      const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], {
        cwd: server.path,
        env: { ...process.env, ...server.env },
      })
      expect({ stdout: stdout.trimStart(), stderr }).to.deep.equal({
        stdout: read,
        stderr: '141\n',
      })
    })
  }
})
