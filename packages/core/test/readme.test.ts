import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'

const outputs = {
  'of logging in': 'hello.txt 12\nworld\n',
  'of customers who are known already':
    'Quota exceeded: other files and uploads use 10 of 10 bytes, and this file needs 1\n',
  'of links': 'alice note\n',
  'of hooks': 'alice stored note\n789\n3 of 10 bytes of note read\nalice deleted note\n',
  'of uploads in pieces': '5 film.mkv 10\n',
}

describe('README.md of core', () => {
  for (const [index, [subject, output]] of Object.entries(outputs).entries()) {
    it(`shows an example ${subject} that runs`, async () => {
      const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
      const examples = [...readme.matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code ?? '')
      expect(examples).to.have.length(Object.keys(outputs).length)
      expect(await outputOf(examples[index] ?? '')).to.equal(output)
    })
  }
})

async function outputOf(code: string): Promise<string> {
  // Beside the tests, since that is where the imports resolve.
  const script = new URL(`../.readme-${process.pid}.ts`, import.meta.url)
  try {
    await writeFile(script, code)
    const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(script)])
    return stdout
  } finally {
    await rm(script, { force: true })
  }
}
