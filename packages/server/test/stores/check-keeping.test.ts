import { SetupError, type Credential } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { expect } from 'chai'
import pino from 'pino'
import { checkKeeping, type KeepingSettings } from '../../src/stores/check-keeping.ts'

const silent = pino({ level: 'silent' })
const keeping: Credential = { name: 'alice', passwordHash: 'x', keepReplacedMs: 60_000 }

async function refusal(settings: Partial<KeepingSettings>, keepMs?: number): Promise<string> {
  try {
    await checkKeeping(settingsOf(settings, keepMs), silent)
    return ''
  } catch (error) {
    expect(error).to.be.instanceOf(SetupError)
    return String(error)
  }
}

function settingsOf(settings: Partial<KeepingSettings>, keepMs?: number): KeepingSettings {
  return {
    store: {},
    config: { store: 'minio', 'keep-replaced': keepMs },
    credentials: () => [],
    ...settings,
  }
}

describe('checkKeeping', () => {
  it('refuses --keep-replaced for a store that cannot keep', async () => {
    expect(await refusal({}, 60_000)).to.equal(
      'SetupError: --keep-replaced is set, but the minio store cannot keep what is replaced. Leave --keep-replaced out.',
    )
  })

  it('refuses a customer of whom is to be kept, with the reason of the store', async () => {
    const store = { historyProblem: async () => 'The bucket keeps no versions.' }
    expect(await refusal({ store, credentials: () => [keeping] })).to.equal(
      'SetupError: The customer "alice" has keepReplaced, but the minio store cannot keep what is replaced. The bucket keeps no versions. Remove keepReplaced from the customers file.',
    )
  })

  it('accepts a store that keeps, and one of which nothing is to be kept', async () => {
    expect(await refusal({ store: createMemoryBlobStore() }, 60_000)).to.equal('')
    expect(await refusal({ credentials: () => [{ ...keeping, keepReplacedMs: 0 }] }, 0)).to.equal(
      '',
    )
    expect(await refusal({})).to.equal('')
  })

  it('logs an error if a customer gets such a setting later', async () => {
    const lines: { readonly level: number; readonly msg: string; readonly reason: string }[] = []
    const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as never) })
    let credentials: readonly Credential[] = []
    const settings = settingsOf({ credentials: () => credentials })
    const check = await checkKeeping(settings, log)
    await check.again()
    credentials = [keeping]
    await check.again()
    await check.close()
    expect(lines.map(({ level, msg }) => [level, msg])).to.deep.equal([
      [50, 'what is replaced is not kept'],
    ])
    expect(lines[0]?.reason).to.include('"alice" has keepReplaced')
  })
})
