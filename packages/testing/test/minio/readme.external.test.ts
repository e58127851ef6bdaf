import { dirname } from 'node:path'
import { expect } from 'chai'
import { describeWithContainers } from '../../src/minio/describe-with-minio.ts'
import { readmeExamples, withExample } from '../../src/documents.ts'
import { runMocha } from './run-mocha.ts'

const tests = dirname(import.meta.dirname)

describeWithContainers('The README of @holdfast/testing', () => {
  it('shows a suite with MinIO that runs', async () => {
    const [example = ''] = await readmeExamples(tests, 'MinIO')
    const output = await withExample(tests, example, runMocha)
    expect(output)
      .to.match(/test-\S+ of holdfast-tests at http:\/\/127/)
      .and.match(/1 passing/)
  })
})
