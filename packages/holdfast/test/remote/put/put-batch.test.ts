import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client, FileToUpload } from '@holdfast/client'
import { expect } from 'chai'
import { putBatch } from '../../../src/remote/put/put.ts'
import { createReport } from '../../../src/remote/output/report.ts'
import { allOf, useLogin } from '../support/logged-in.ts'

describe('putBatch', function () {
  this.timeout(120_000)
  const { site, client, server } = useLogin()

  it('fails for a file that is replaced while it is read, and for no other', async () => {
    const path = (name: string) => join(site.path, name)
    for (const name of ['a', 'b', 'c', 'other']) await writeFile(path(name), name.slice(0, 1))
    async function* replacing(files: Iterable<FileToUpload> | AsyncIterable<FileToUpload>) {
      for await (const file of files) {
        if (file.name === 'b') await rename(path('other'), path('b'))
        yield file
      }
    }
    const real = client()
    const uploadMany: Client['uploadMany'] = (files, options) =>
      real.uploadMany(replacing(files), options)
    const lines: string[] = []
    const report = createReport(false, (line) => void lines.push(line))
    const files = ['a', 'b', 'c'].map((name) => ({ name, path: path(name) }))
    const login = { url: server().url, name: 'demo', password: '' }
    const { signal } = new AbortController()
    await putBatch(files, false, { client: { ...real, uploadMany }, login, report, signal })
    expect(lines).to.deep.equal([
      `${path('a')} is stored as a, 1 B`,
      `holdfast: ${path('b')}: The file has changed meanwhile: ${path('b')}`,
      `${path('c')} is stored as c, 1 B`,
    ])
    expect(report.exitCode()).to.equal(5)
    expect(await allOf(client().list())).to.deep.equal(['a', 'c'])
  })
})
