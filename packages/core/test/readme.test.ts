import { readmeExamples, runReadme } from '@holdfast/testing'
import { expect } from 'chai'

const outputs = {
  'of logging in': 'hello.txt 12\nworld\n',
  'of customers who are known already':
    'Quota exceeded: other files and uploads use 10 of 10 bytes, and this file needs 1\n',
  'of links': 'alice note\n',
  'of hooks': 'alice stored note\n789\n3 of 10 bytes of note read\nalice deleted note\n',
  'of uploads in pieces': '5 film.mkv 10\n',
}

describe('The README of @holdfast/core', () => {
  it('shows no example but those below', async () => {
    const examples = await readmeExamples(import.meta.dirname)
    expect(examples).to.have.length(Object.keys(outputs).length)
  })

  for (const [nth, [subject, output]] of Object.entries(outputs).entries()) {
    it(`shows an example ${subject} that runs`, async () => {
      expect(await runReadme(import.meta.dirname, { nth })).to.equal(output)
    })
  }
})
