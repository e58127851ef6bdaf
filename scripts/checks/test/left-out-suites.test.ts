import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { leftOutSuites } from '../left-out-suites.ts'

const variable = 'HOLDFAST_WITHOUT_CONTAINERS'

describe('leftOutSuites', () => {
  const before = process.env[variable]

  afterEach(() => {
    if (before === undefined) Reflect.deleteProperty(process.env, variable)
    else process.env[variable] = before
  })

  it('names each title once, in order', async () => {
    await withRepository({ titles: 'Cluster\nA store\nCluster\n' }, async (folder) => {
      process.env[variable] = `${folder}/titles`
      expect(leftOutSuites()).to.deep.equal(['A store', 'Cluster'])
    })
  })

  it('says nothing in a run without the waiver', () => {
    process.env[variable] = ''
    expect(leftOutSuites()).to.equal(undefined)
  })
})
