import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { readDescription } from '../../../packages/testing/src/api-description/index.ts'
import { clientApiFile } from '../client-api-file.ts'
import { renderClientApi } from '../render-client-api.ts'

describe('renderClientApi', () => {
  it('made what the client knows of the API; if not: node scripts/write-client-api.ts', async () => {
    expect(await readFile(clientApiFile, 'utf8')).to.equal(
      await renderClientApi(readDescription(), clientApiFile),
    )
  })
})
