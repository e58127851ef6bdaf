import { HoldfastError } from '@holdfast/client'
import { expect } from 'chai'
import { forEachName } from '../../src/remote/names.ts'
import { createReport } from '../../src/remote/report.ts'

const noAnswer = () => new HoldfastError('no-answer', 'There is no answer')

/** Works on five names, each of which fails with `failure`; `answers` says whether the server answers then. */
async function work(failure: () => Error, answers: () => Promise<boolean>) {
  const tried: string[] = []
  const lines: string[] = []
  const working = forEachName(
    ['a', 'b', 'c', 'd', 'e'],
    String,
    {
      answers,
      concurrency: 1,
      signal: new AbortController().signal,
      report: createReport({ isJson: false }, (line) => lines.push(line)),
    },
    async (name) => {
      tried.push(name)
      throw failure()
    },
  )
  const error: unknown = await working.catch((reason: unknown) => reason)
  return { tried, lines: lines.length, error }
}

describe('forEachName', () => {
  it('tries no other file where the server answers nothing any more', async () => {
    const { tried, lines, error } = await work(noAnswer, async () => false)
    expect({ tried, lines }).to.deep.equal({ tried: ['a'], lines: 0 })
    expect(error).to.include({ code: 'no-answer' })
  })

  it('goes on with the others where only this file has no answer', async () => {
    const { tried, lines, error } = await work(noAnswer, async () => true)
    expect(tried).to.have.length(5)
    expect({ lines, error }).to.deep.equal({ lines: 5, error: undefined })
  })

  it('does not ask the server about other failures', async () => {
    const { tried } = await work(
      () => new HoldfastError('not-found', 'No such file', { status: 404 }),
      () => expect.fail('asked'),
    )
    expect(tried).to.have.length(5)
  })
})
