import { readmeExamples, runReadme } from '@holdfast/testing'
import { expect } from 'chai'
import { all } from './support/all.ts'
import { startService } from './support/running-service.ts'

describe('The README of @holdfast/client', function () {
  this.timeout(60_000)

  it('shows a program that stores, serves, lists, shares and deletes', async () => {
    const customer = { name: 'demo', password: 'sesame' }
    await using service = await startService({ customer })
    const [example = ''] = await readmeExamples(import.meta.dirname)
    const [shown, here] = ['http://127.0.0.1:3000', `http://127.0.0.1:${service.port}`]
    const output = await runReadme(import.meta.dirname, {
      replaced: { [shown]: here },
      env: { HOLDFAST_PASSWORD: customer.password },
    })
    const size = Buffer.byteLength(example.replaceAll(shown, here))
    expect(output.split('\n')).to.include.members([
      `${size} of ${size} bytes`,
      'hello.txt 15',
      'two.txt stored',
      'two.txt deleted',
      'Hello, holdfast',
      'The name is taken',
    ])
    expect(await all(service.files.list())).to.deep.equal([
      ['from-bob-notes.txt', 'this.ts', 'three.txt'],
    ])
  })
})
