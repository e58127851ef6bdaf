import { expect } from 'chai'
import { useServer } from '../support/use-server.ts'
import { usageText } from '../../../src/remote/files/du.ts'

describe('holdfast du', function () {
  this.timeout(120_000)
  const server = useServer()
  const du = (...args: readonly string[]) => server.holdfast(['du', ...args])

  it('says how much is kept', async () => {
    await server.client.upload('a', 'x'.repeat(2345))
    expect(await du()).to.deep.equal({
      code: 0,
      stdout: 'size        2.35 kB (2345 bytes)\nfiles       1\n',
      stderr: '',
    })
    expect(JSON.parse((await du('--json')).stdout)).to.deep.equal(await server.client.usage())
  })

  it('takes no names', async () => {
    expect((await du('a')).code).to.equal(2)
    expect((await du('--', 'a')).code).to.equal(2)
  })
})

describe('usageText', () => {
  const unfinished = { uploads: 0, bytes: 0 }

  it('says the limits, and how much of them is used', () => {
    const usage = {
      files: 3,
      bytes: 2_500_000_000,
      quota: 50_000_000_000,
      maxFiles: 10,
      unfinished,
    }
    expect(usageText(usage)).to.equal(
      'size        2.50 GB (2500000000 bytes) of 50.0 GB (5%)\nfiles       3 of 10',
    )
  })

  it('rounds down what is used, but says that it is something', () => {
    const share = (bytes: number, quota: number) =>
      /\((\S+%)\)$/m.exec(usageText({ files: 1, bytes, quota, unfinished }))?.[1]
    expect([share(0, 1000), share(1, 1000), share(999, 1000), share(0, 0)]).to.deep.equal([
      '0%',
      '<1%',
      '99%',
      '100%',
    ])
  })

  it('says what is unfinished, where something is', () => {
    const usage = { files: 0, bytes: 0, unfinished: { uploads: 1, bytes: 5 } }
    expect(usageText(usage)).to.include('unfinished  1 upload with 5 B')
  })
})
