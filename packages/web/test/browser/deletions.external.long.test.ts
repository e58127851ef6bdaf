import { FileServiceError, type BlobStore } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

/** What the page does when many files are deleted at once. */
describeInBrowsers('The page deletes many files', (browser) => {
  /** The page with 300 files, all of which are selected. `beforeEach` is awaited before each deletion. */
  async function allSelected(beforeEach: (name: string) => Promise<void> = async () => {}) {
    const server = await runPage(createStore(beforeEach))
    await Promise.all(names.map((name) => server.put(name, 'a')))
    const driver = await openDriver(browser(), server.url)
    await driver.signIn()
    await driver.sees('.status', '300 files')
    await driver.click('[aria-label="Select all"]')
    await driver.sees('.status', '300 selected')
    const deletions = () => server.asked.filter((each) => /^(DELETE|POST) .*delete/.test(each))
    return {
      server,
      driver,
      deletions,
      [Symbol.asyncDispose]: () => endVisit(driver, server),
    }
  }

  it('asks first, shows how many are deleted, and says all the while that they are not gone', async () => {
    const gate = Promise.withResolvers<undefined>()
    await using opened = await allSelected(async (name) => {
      if (name === names[100]) await gate.promise
    })
    const { server, driver, deletions } = opened
    await driver.press('button', 'Delete')
    await driver.sees('dialog', 'Delete 300 files?')
    expect(await driver.axe()).to.deep.equal([])
    await driver.press('button', 'Keep them')
    await driver.misses('dialog')
    await driver.sees('.status', '300 selected')
    await driver.press('button', 'Delete')
    await driver.click('dialog .button-danger')
    await driver.sees('.empty', '300 files are being deleted')
    await driver.sees('.notices', 'Deleting 300 files')
    await driver.sees('.notices', 'Deleted 100 of 300 files')
    expect(await server.names()).to.include(names[100])
    gate.resolve(undefined)
    await driver.sees('.empty', 'Nothing here yet')
    await driver.misses('.notices', 'Delet')
    expect(await server.names()).to.deep.equal([])
    expect(deletions()).to.deep.equal(['POST /delete/batch', 'POST /delete/batch'])
  })

  it('takes all of it back', async () => {
    await using opened = await allSelected()
    const { server, driver, deletions } = opened
    await driver.press('button', 'Delete')
    await driver.click('dialog .button-danger')
    await driver.click('.notice-action')
    await driver.sees('.status', '300 files')
    await driver.misses('.status', 'being deleted')
    expect(await server.names()).to.have.length(300)
    expect(deletions()).to.deep.equal([])
  })

  it('brings back what could not be deleted, and says so', async () => {
    await using opened = await allSelected(async (name) => {
      if (name === names[7] || name === names[270]) {
        throw new FileServiceError('store-unavailable', 'The disk is away')
      }
    })
    const { server, driver } = opened
    await driver.press('button', 'Delete')
    await driver.click('dialog .button-danger')
    await driver.sees('.notice-error', '2 files could not be deleted. The server is busy.')
    await driver.sees('.status', '2 files')
    const left = [names[7], names[270]]
    expect(await driver.names()).to.deep.equal(left)
    expect(await server.names()).to.deep.equal(left)
  })

  it('warns whoever leaves, and still deletes what fits into a last request', async () => {
    const gate = Promise.withResolvers<undefined>()
    await using opened = await allSelected(async (name) => {
      if (name === names[100]) await gate.promise
    })
    const { server, driver } = opened
    const { page } = driver
    await driver.press('button', 'Delete')
    await driver.click('dialog .button-danger')
    await driver.sees('.notices', 'Deleted 100 of 300 files')
    const warnings: string[] = []
    page.on('dialog', (dialog) => {
      warnings.push(dialog.type())
      void dialog.accept()
    })
    await page.goto('about:blank')
    expect(warnings).to.deep.equal(['beforeunload'])
    gate.resolve(undefined)
    await until('all are deleted', async () => (await server.names()).length === 0)
  })
})

const names = Array.from({ length: 300 }, (_, index) => `file ${index + 100}`)

function createStore(beforeEach: (name: string) => Promise<void>): BlobStore {
  const store = createMemoryBlobStore()
  return {
    ...store,
    async delete(key) {
      await beforeEach(key.name)
      return store.delete(key)
    },
  }
}
