import { expect } from 'chai'
import { createCloseStack } from '../../src/serve/open-shared-services.ts'

describe('createCloseStack', () => {
  const closed: string[] = []
  beforeEach(() => void closed.splice(0))
  const thing = (name: string) => ({ name, close: async () => void closed.push(name) })

  it('hands on what is opened, and closes all of it, the last first, once', async () => {
    const { open, closeAll } = createCloseStack()
    expect((await open(Promise.resolve(thing('a')))).name).to.equal('a')
    expect(await open(Promise.resolve(undefined))).to.equal(undefined)
    await open(Promise.resolve(thing('b')))
    expect(closed).to.deep.equal([])
    await closeAll()
    await closeAll()
    expect(closed).to.deep.equal(['b', 'a'])
  })

  it('closes what was opened before when something cannot be opened', async () => {
    const { open } = createCloseStack()
    await open(Promise.resolve(thing('a')))
    const failure = new Error('no')
    const reason = await open(Promise.reject<undefined>(failure)).catch((error: unknown) => error)
    expect(reason).to.equal(failure)
    expect(closed).to.deep.equal(['a'])
  })
})
