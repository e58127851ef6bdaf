import { expect } from 'chai'
import { showProgress } from '../show-progress.ts'

describe('showProgress', () => {
  it('redraws one line on a terminal, no longer than that is wide, and leaves none', async () => {
    let written = ''
    const drawn = Promise.withResolvers<undefined>()
    const write = (text: string) => {
      written += text
      drawn.resolve(undefined)
    }
    const end = showProgress({ isTTY: true, columns: 11, write }, () => '12345678901234')
    await drawn.promise
    end()
    expect(written).to.match(/^(\r\u001b\[K1234567890)+\r\u001b\[K$/)
  })
})
