import { rejection } from '@holdfast/testing'
import { expect } from 'chai'
import { withSeed } from './with-seed.ts'

const variable = 'HOLDFAST_TEST_SEED'

describe('withSeed', () => {
  const before = process.env[variable]
  afterEach(() => {
    if (before === undefined) Reflect.deleteProperty(process.env, variable)
    else process.env[variable] = before
  })

  it('names the seed of what has failed, which then is the seed', async () => {
    Reflect.deleteProperty(process.env, variable)
    let seen = 0
    const error = await rejection(
      withSeed((seed) => {
        seen = seed
        return Promise.reject(new Error('lost'))
      }),
    )
    expect(String(error)).to.include(`${variable}=${seen} repeats these choices: Error: lost`)
    process.env[variable] = String(seen)
    expect(await withSeed((seed) => Promise.resolve(seed))).to.equal(seen)
  })

  it('is another one each time otherwise', async () => {
    Reflect.deleteProperty(process.env, variable)
    const seeds = await Promise.all([1, 2, 3].map(() => withSeed((seed) => Promise.resolve(seed))))
    expect(new Set(seeds).size).to.equal(3)
  })
})
