import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { describeWithContainers } from '../../src/minio/describe-with-minio.ts'
import { runMocha } from './run-mocha.ts'

describeWithContainers('The README of @holdfast/testing/minio', () => {
  it('shows an example that runs', async () => {
    const readme = await readFile(join(import.meta.dirname, '../../README.md'), 'utf8')
    const [, example = ''] = /```ts\n(import \{ describeWithMinio[^]*?)```/.exec(readme) ?? []
    // Inside the package, where its own name resolves to it.
    const place = await mkdtemp(join(import.meta.dirname, '../../.readme-'))
    try {
      await writeFile(join(place, 'example.mjs'), example)
      const output = await runMocha(join(place, 'example.mjs'))
      expect(output)
        .to.match(/test-\S+ of holdfast-tests at http:\/\/127/)
        .and.match(/1 passing/)
    } finally {
      await rm(place, { recursive: true })
    }
  })
})
