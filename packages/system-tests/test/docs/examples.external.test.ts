import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { fencedBlocks, withStatement } from './documented-steps.ts'
import { runInReaderProject } from './reader-project.ts'

function examplesIn(path: string): string[] {
  return fencedBlocks(readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8'), 'ts')
}

/** `program` on a free port, then `requests`, which may use `url`, then the end. */
function withRequests(program: string, requests: string): string {
  const listening = program.replace('app.listen(8080)', 'const server = app.listen(0)')
  expect(listening).not.to.equal(program)
  return `${listening}
const url = \`http://127.0.0.1:\${server.address().port}\`
${requests}
process.exit()
`
}

describe('The example in README.md', function () {
  // The packages are installed first.
  this.timeout(180_000)

  it('stores, lists, serves and deletes', async () => {
    const [example = '', ...others] = examplesIn('README.md')
    expect(others).to.be.empty
    expect(await runInReaderProject(example)).to.equal('hello.txt\nholdfast')
  })
})

describe('The examples in docs/embedding.md', function () {
  this.timeout(180_000)

  const [mounted = '', audited = '', staged = '', ...others] = examplesIn('docs/embedding.md')

  it('are these three', () => expect(others).to.be.empty)

  it('mount the API below a path, with a login of their own', async () => {
    const output = await runInReaderProject(
      withRequests(
        mounted,
        `const headers = { authorization: 'Bearer 5f2c' }
        const show = async (path, init) => console.log(await (await fetch(url + path, init)).text())
        await show('/files/upload/a.txt', { method: 'PUT', body: 'a', headers })
        await show('/files/list', { headers })
        await show('/files/list')
        await show('/list', { headers })`,
      ),
    )
    expect(output.split('\n')).to.deep.equal([
      'OK',
      '["a.txt"]',
      '{"statusCode":401,"error":"Unauthorized","message":"Log in first"}',
      'Not Found',
      '',
    ])
  })

  it('inform an audit trail before the client', async () => {
    const output = await runInReaderProject(
      withRequests(
        withStatement(mounted, audited),
        `const ask = async (path, method, body) =>
          console.log(await (await fetch(url + path, { method, body })).text())
        await ask('/upload/a.txt', 'PUT', 'a')
        await ask('/delete/b.txt', 'DELETE')`,
      ),
    )
    expect(output.split('\n')).to.deep.equal([
      'upload ok undefined alice a.txt',
      'OK',
      'delete refused not-found alice b.txt',
      '{"statusCode":400,"error":"Bad Request","message":"File not found"}',
      '',
    ])
  })

  it('publish what multer has staged', async () => {
    const output = await runInReaderProject(
      withRequests(
        staged,
        `const body = new FormData()
        body.append('document', new Blob(['12345']), 'numbers.txt')
        console.log(await (await fetch(url, { method: 'POST', body })).text())
        for await (const names of service.filesOf({ name: 'alice' }).list()) console.log(...names)`,
      ),
    )
    expect(output).to.equal('Safe: 5 bytes\nnumbers.txt\n')
  })
})
