import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'

describeWithMinio('The README of @holdfast/store-minio', (minio) => {
  it('shows an example that runs', async () => {
    const { endpoint, accessKey, secretKey } = minio()
    const bucket = await minio().createBucket()
    const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
    const [, example = ''] = /```ts\n([^]*?)```/.exec(readme) ?? []
    const here = example
      .replace("'http://127.0.0.1:9000'", JSON.stringify(endpoint))
      .replace("'files'", JSON.stringify(bucket))
    expect(here).to.include(endpoint).and.include(bucket)
    // Inside the package, where its own name resolves to it.
    const place = await mkdtemp(join(import.meta.dirname, '../.readme-'))
    try {
      await writeFile(join(place, 'example.mjs'), here)
      const env = { ...process.env, MINIO_ACCESS_KEY: accessKey, MINIO_SECRET_KEY: secretKey }
      const run = promisify(execFile)(process.execPath, ['example.mjs'], { cwd: place, env })
      expect((await run).stdout).to.equal('ello')
    } finally {
      await rm(place, { recursive: true })
    }
  })
})
