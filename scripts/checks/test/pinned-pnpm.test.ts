import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const root = join(import.meta.dirname, '../../..')
const files = [
  'Dockerfile',
  'scripts/prepare.sh',
  'scripts/release/package-manager.ts',
  'packages/system-tests/test/openapi/clients/client-project.ts',
]

describe('pnpm, which npx fetches,', () => {
  it('is one exact version wherever it is run, so that a new release changes nothing', () => {
    const runs = files.flatMap((file) => {
      const found = readFileSync(join(root, file), 'utf8').match(/pnpm@[^\s']*/g) ?? []
      expect(found, file).to.not.deep.equal([])
      return found
    })
    expect([...new Set(runs)]).to.have.length(1)
    expect(runs[0]).to.match(/^pnpm@\d+\.\d+\.\d+$/)
  })
})
