import { rejection } from '@holdfast/testing'
import { expect } from 'chai'
import { createDirectorySync } from '../../../src/remote/get/receive-file.ts'

describe('createDirectorySync', () => {
  /** Syncs that end when the test says so. */
  const pending = () => {
    const ends: PromiseWithResolvers<undefined>[] = []
    const begun: (() => void)[] = []
    return {
      ends,
      sync: createDirectorySync('.', () => {
        const end = Promise.withResolvers<undefined>()
        ends.push(end)
        begun.shift()?.()
        return end.promise
      }),
      nextBegins: () => new Promise<void>((resolve) => begun.push(resolve)),
    }
  }

  it('has calls that come during a sync share the next one', async () => {
    const { ends, sync, nextBegins } = pending()
    const firstBegins = nextBegins()
    const first = sync()
    await firstBegins
    let isSecondDone = false
    const secondBegins = nextBegins()
    const later = [sync(), sync().then(() => (isSecondDone = true))]
    ends[0]?.resolve(undefined)
    await Promise.all([first, secondBegins])
    expect(isSecondDone).to.equal(false)
    ends[1]?.resolve(undefined)
    await Promise.all(later)
    expect(ends).to.have.length(2)
  })

  it('syncs once for calls that come together', async () => {
    const { ends, sync, nextBegins } = pending()
    const begins = nextBegins()
    const calls = [sync(), sync()]
    await begins
    ends[0]?.resolve(undefined)
    await Promise.all(calls)
    expect(ends).to.have.length(1)
  })

  it('fails for all after one sync has failed', async () => {
    const { ends, sync, nextBegins } = pending()
    const begins = nextBegins()
    const failed = [sync(), sync()]
    await begins
    failed.push(sync())
    const error = new Error('EIO')
    ends[0]?.reject(error)
    const errors = await Promise.all(failed.map((each) => rejection(each)))
    expect(errors).to.deep.equal([error, error, error])
    expect(await rejection(sync())).to.equal(error)
    expect(ends).to.have.length(1)
  })

  it('syncs a directory of the disk, and fails where there is none', async () => {
    await createDirectorySync(import.meta.dirname)()
    const none = createDirectorySync(`${import.meta.dirname}/none`)()
    expect(await rejection(none)).to.include({ code: 'ENOENT' })
  })
})
