import { join } from 'node:path'
import { expect } from 'chai'
import { pictureProblems } from '../picture-problems.ts'
import { packageFiles, withRepository } from './fixture-repository.ts'

const packages = {
  ...packageFiles('core', {}),
  ...packageFiles('contract', { source: "import '@holdfast/core'" }),
  ...packageFiles('store-disk', { source: "import type { A } from '@holdfast/core/memory'" }),
  'packages/store-disk/test/put.test.ts': "import '@holdfast/contract'\nimport '@holdfast/core'",
}

const drawn = `contract --> core
store-disk["a <b>store</b> --> disk"] --> core
store-disk -.-> contract
store-disk ==> directory[(directory)]`

function problemsWith(picture: string, rest = ''): Promise<string[]> {
  const text = `# Architecture\n\n\`\`\`mermaid\nflowchart LR\n${picture}\n\`\`\`\n${rest}`
  return withRepository({ ...packages, 'docs/architecture.md': text }, pictureProblems)
}

describe('pictureProblems', () => {
  it('finds none in this repository', async () => {
    expect(await pictureProblems(join(import.meta.dirname, '../../..'))).to.deep.equal([])
  })

  it('finds none where the arrows are the imports', async () => {
    expect(await problemsWith(drawn)).to.deep.equal([])
  })

  it('names an import that is not drawn', async () => {
    expect(await problemsWith(drawn.replace('contract --> core', 'contract'))).to.deep.equal([
      'docs/architecture.md does not draw contract --> core, which is imported',
    ])
  })

  it('names an arrow that nothing imports', async () => {
    expect(await problemsWith(`${drawn}\ncore --> contract & store-disk`)).to.deep.equal([
      'docs/architecture.md draws core --> contract, which is not imported',
      'docs/architecture.md draws core --> store-disk, which is not imported',
    ])
  })

  it('distinguishes what only tests import from what sources import', async () => {
    expect(await problemsWith(drawn.replace('-.->', '-->'))).to.deep.equal([
      'docs/architecture.md does not draw store-disk -.-> contract, which is imported',
      'docs/architecture.md draws store-disk --> contract, which is not imported',
    ])
  })

  it('names a package without a place', async () => {
    const text = `\`\`\`mermaid\nflowchart LR\n${drawn}\n\`\`\`\n`
    const files = { ...packages, ...packageFiles('tape', {}), 'docs/architecture.md': text }
    expect(await withRepository(files, pictureProblems)).to.deep.equal([
      'docs/architecture.md does not draw tape',
    ])
  })

  it('names a file that is not there, by the end of its path', async () => {
    const road = 'a["src/index.ts<br>all"] --> b["c.ts, d.ts<br>both"]'
    const rest = 'See `src/index.ts`, `store-disk/test/put.test.ts` and `disk/src/index.ts`.'
    expect(await problemsWith(drawn, `${rest}\n${road}`)).to.deep.equal([
      'docs/architecture.md names disk/src/index.ts, which is not there',
      'docs/architecture.md names c.ts, which is not there',
      'docs/architecture.md names d.ts, which is not there',
    ])
  })

  it('says when it is too long to be read', async () => {
    expect(await problemsWith(drawn, 'One more line.\n'.repeat(100))).to.deep.equal([
      'docs/architecture.md has 109 lines; two screens are 100',
    ])
  })

  it('misses a picture', async () => {
    const files = { ...packages, 'docs/architecture.md': 'Words.' }
    expect(await withRepository(files, pictureProblems)).to.deep.equal([
      'docs/architecture.md has no picture',
    ])
  })
})
