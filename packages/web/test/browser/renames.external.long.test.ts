import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { createKeyboardDriver } from './keyboard-driver.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

describeInBrowsers('The page renames a file', (browser) => {
  async function open(files: readonly string[], store = createMemoryBlobStore()) {
    const server = await runPage(store)
    for (const name of files) await server.put(name, `content of ${name}`)
    const driver = await openDriver(browser(), server.url)
    await driver.signIn()
    await driver.sees('.main', files[0] ?? '')
    return {
      server,
      driver,
      keys: createKeyboardDriver(driver),
      [Symbol.asyncDispose]: () => endVisit(driver, server),
    }
  }

  it('by its button, keeps the extension unless that is changed, and takes it back', async () => {
    await using opened = await open(['notes.txt', 'other.txt'])
    const { server, driver } = opened
    await driver.press('button', 'Rename notes.txt')
    await driver.sees('dialog', 'New name')
    expect(await driver.axe()).to.deep.equal([])
    await driver.page.keyboard.type('minutes')
    expect(await driver.value('New name')).to.equal('minutes.txt')
    const shot = process.env['HOLDFAST_SCREENSHOTS']
    if (shot) await writeFile(join(shot, 'rename.png'), await driver.page.screenshot())
    await driver.press('button', 'Rename')
    await driver.sees('.notices', 'is called “minutes.txt” now')
    await driver.sees('.main', 'minutes.txt')
    await driver.misses('.rows', 'notes.txt')
    expect(await server.names()).to.deep.equal(['minutes.txt', 'other.txt'])
    await driver.click('.notice-action')
    await driver.sees('.rows', 'notes.txt')
    expect(await server.names()).to.deep.equal(['notes.txt', 'other.txt'])
  })

  it('by the keyboard alone, and asks before it replaces another file', async () => {
    await using opened = await open(['a.txt', 'b.txt'])
    const { server, driver, keys } = opened
    await keys.tabTo('a.txt')
    await keys.press('F2')
    await keys.focuses('New name')
    await driver.page.keyboard.type('b')
    await keys.press('Enter')
    await driver.sees('dialog [role=alert]', 'There is already a file “b.txt”.')
    expect(await server.names()).to.deep.equal(['a.txt', 'b.txt'])
    await keys.press('Enter')
    await driver.misses('dialog')
    await until('it is replaced', async () => (await server.names()).length === 1)
    expect(await server.names()).to.deep.equal(['b.txt'])
    await driver.sees('.notices', 'is called “b.txt” now')
    await driver.misses('.notice-action')
  })

  it('and leaves the focus on its row, wherever that is now', async () => {
    await using opened = await open(['a.txt', 'b.txt', 'c.txt'])
    const { driver, keys } = opened
    await keys.tabTo('a.txt')
    await keys.press('F2')
    await keys.focuses('New name')
    await driver.page.keyboard.type('z')
    await keys.press('Enter')
    await driver.misses('dialog')
    await keys.focuses('z.txt')
    await keys.press('ArrowUp')
    await keys.focuses('c.txt')
  })

  it('to a name whose file is about to be deleted, and keeps the renamed one', async () => {
    await using opened = await open(['a.txt', 'b.txt'])
    const { server, driver, keys } = opened
    await driver.press('button', 'Delete b.txt')
    await driver.sees('.notices', 'Deleting “b.txt”')
    await driver.press('button', 'Rename a.txt')
    await driver.fill('New name', 'b.txt')
    await keys.press('Enter')
    await driver.misses('dialog')
    await driver.misses('.notices', 'Deleting')
    await new Promise((resolve) => setTimeout(resolve, 5500))
    expect(await server.names()).to.deep.equal(['b.txt'])
  })

  it('and says so, also where the file is gone again', async () => {
    const store = createMemoryBlobStore()
    const rename = store.rename?.bind(store)
    store.rename = async (key, to, options) => {
      const info = await rename?.(key, to, options)
      await store.delete({ ...key, name: to })
      return info
    }
    await using opened = await open(['a.txt', 'b.txt'], store)
    const { driver, keys } = opened
    await driver.press('button', 'Rename a.txt')
    await driver.fill('New name', 'z.txt')
    await keys.press('Enter')
    await driver.sees('.notices', 'is called “z.txt” now')
    await driver.misses('dialog')
    await driver.misses('.rows', 'a.txt')
  })

  it('and shows what the server has, where the answer was lost', async () => {
    await using opened = await open(['a.txt', 'b.txt'])
    const { driver, keys } = opened
    await driver.page.evaluate(() => {
      const own = window.fetch
      window.fetch = async (...request) => {
        const response = await own(...request)
        if (response.url.includes('/rename/')) throw new TypeError('The line broke')
        return response
      }
    })
    await driver.press('button', 'Rename a.txt')
    await driver.fill('New name', 'z.txt')
    await keys.press('Enter')
    await driver.sees('dialog [role=alert]', 'The server cannot be reached')
    await driver.sees('.rows', 'z.txt')
    await driver.misses('.rows', 'a.txt')
  })

  it('says why a name is not possible, and changes nothing when it is closed', async () => {
    await using opened = await open(['a.txt'])
    const { server, driver, keys } = opened
    await driver.press('button', 'Rename a.txt')
    await driver.fill('New name', 'folder/a.txt')
    await driver.press('button', 'Rename')
    await driver.sees('dialog [role=alert]', 'This name is not allowed here.')
    await keys.press('Escape')
    await driver.misses('dialog')
    expect(await server.names()).to.deep.equal(['a.txt'])
  })

  it('not where the server cannot', async () => {
    const store = createMemoryBlobStore()
    Reflect.deleteProperty(store, 'rename')
    await using opened = await open(['a.txt'], store)
    const labels = await opened.driver.page.$$eval('.rows button', (buttons) =>
      buttons.map((button) => button.ariaLabel),
    )
    expect(labels).to.include('Delete a.txt')
    expect(labels).not.to.include('Rename a.txt')
  })
})
