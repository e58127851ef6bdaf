import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { createKeyboardDriver } from './keyboard-driver.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

const names = [
  'notes.txt',
  'photos - 2025 - a.jpg',
  'photos - 2026 - b.jpg',
  'photos - 2026 - c.jpg',
  'photos - sea.jpg',
]

describeInBrowsers('The page shows folders', (browser, _, once) => {
  async function open(hash = '', files: readonly string[] = names) {
    const server = await runPage()
    for (const name of files) await server.put(name, `content of ${name}`)
    const driver = await openDriver(browser(), `${server.url}${hash}`)
    await driver.signIn()
    await driver.page.waitForSelector('.rows .row')
    return {
      server,
      driver,
      keys: createKeyboardDriver(driver),
      [Symbol.asyncDispose]: () => endVisit(driver, server),
    }
  }

  it('which lead in by a click and by the keyboard, and out by crumbs and Back', async () => {
    await using opened = await open()
    const { driver, keys } = opened
    const { page, press, sees, reads } = driver
    await sees('.status', '1 folder · 5 files')
    expect(await driver.names()).to.deep.equal(['photos', 'notes.txt'])
    expect(await driver.axe()).to.deep.equal([])
    await press('button', 'Open the folder photos')
    await sees('.crumbs', 'photos')
    await sees('.status', '2 folders · 4 files')
    await reads('2025', '2026', 'sea')
    expect(await page.evaluate(() => location.hash)).to.equal('#/photos')
    await page.focus('.row[data-index="0"]')
    await keys.press('ArrowDown')
    await keys.press('Enter')
    await sees('.crumbs [aria-current]', '2026')
    expect(await driver.names()).to.deep.equal(['photos - 2026 - b.jpg', 'photos - 2026 - c.jpg'])
    expect(await driver.axe()).to.deep.equal([])
    await page.goBack()
    await sees('.crumbs [aria-current]', 'photos')
    await driver.click('.crumbs a')
    await driver.misses('.crumbs')
    expect(await driver.names()).to.deep.equal(['photos', 'notes.txt'])
    expect(driver.complaints).to.deep.equal([])
  })

  it('at their addresses, filters below them, and remembers that they are switched off', async () => {
    await using opened = await open('#/photos/2026')
    const { driver } = opened
    const { page, press, sees } = driver
    await sees('.crumbs [aria-current]', '2026')
    await page.goto(`${opened.server.url}#/photos`)
    await sees('.crumbs [aria-current]', 'photos')
    await page.locator('.filter input').fill('b.jpg')
    await sees('.status', '1 of 4 files')
    await sees('.rows', '2026 - b.jpg')
    await driver.click('.filter button')
    await press('button', 'View')
    expect(await driver.axe()).to.deep.equal([])
    await driver.click('#view-menu [type=checkbox]')
    await driver.misses('.crumbs')
    expect(await driver.names()).to.deep.equal(names)
    await page.reload()
    await driver.signIn()
    await sees('.rows', 'photos - sea.jpg')
    expect(await driver.names()).to.deep.equal(names)
  })

  it('takes what is dropped into the open one, and onto another one', async () => {
    await using opened = await open('#/photos')
    const { server, driver } = opened
    await driver.sees('.crumbs', 'photos')
    await driver.drop([{ name: 'new.txt', content: 'new' }])
    await driver.sees('.rows', 'new.txt')
    await driver.page.evaluate(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File(['onto'], 'onto.txt'))
      const row = document.querySelector('[data-folder="photos - 2026 - "]')
      for (const type of ['dragenter', 'dragover', 'drop']) {
        const init = { dataTransfer: transfer, bubbles: true, cancelable: true }
        row?.dispatchEvent(new DragEvent(type, init))
      }
    })
    await until('both are stored', async () => (await server.names()).length === 7)
    expect(await server.content('photos - new.txt')).to.equal('new')
    expect(await server.content('photos - 2026 - onto.txt')).to.equal('onto')
  })

  it('moves files and folders, asks nothing twice, and undoes that', async () => {
    await using opened = await open()
    const { server, driver } = opened
    const { page, press, sees } = driver
    await driver.click('.row-folder [type=checkbox]')
    await sees('.status', '4 selected')
    await press('button', 'Move')
    await sees('dialog', 'Move 4 files')
    expect(await driver.axe()).to.deep.equal([])
    await page.locator('dialog input').fill('photos/inner')
    await driver.click('dialog [type=submit]')
    await sees('dialog [role=alert]', 'cannot be moved into itself')
    await page.locator('dialog input').fill('old/2026')
    await driver.click('dialog [type=submit]')
    await sees('.notices', '4 files are moved')
    await sees('.rows', 'old')
    expect(await server.names()).to.include.members([
      'notes.txt',
      'old - 2026 - photos - 2025 - a.jpg',
      'old - 2026 - photos - sea.jpg',
    ])
    await press('button', 'Undo')
    await until('all are back', async () => (await server.names()).join() === names.join())
    expect(driver.complaints).to.deep.equal([])
  })

  it('renames one, and leaves a file whose new name is taken', async () => {
    await using opened = await open('', ['a - x.txt', 'a - y.txt', 'b - x.txt'])
    const { server, driver } = opened
    await driver.press('button', 'Rename a')
    await driver.sees('dialog', 'Rename the folder a')
    await driver.fill('New name', 'b')
    await driver.click('dialog [type=submit]')
    await driver.sees('.notices', '1 file is moved')
    await driver.sees('.notices', 'There is already a file “b - x.txt”')
    expect(await server.names()).to.deep.equal(['a - x.txt', 'b - x.txt', 'b - y.txt'])
    expect(await server.content('b - x.txt')).to.equal('content of b - x.txt')
  })

  it('deletes one with all in it, and undoes that', async () => {
    await using opened = await open()
    const { server, driver } = opened
    await driver.press('button', 'Delete photos')
    await driver.sees('.notices', 'Deleting 4 files')
    await driver.misses('.rows', 'photos')
    await driver.press('button', 'Undo')
    await driver.sees('.rows', 'photos')
    await driver.press('button', 'Delete photos')
    await until('they are deleted', async () => (await server.names()).join() === 'notes.txt')
  })

  once('says so where one is empty, and fits a phone', async () => {
    await using opened = await open('#/photos')
    const { driver } = opened
    const { page } = driver
    await driver.sees('.crumbs', 'photos')
    await page.setViewport({ width: 360, height: 740 })
    await page.waitForFunction(() => innerWidth === 360)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(360)
    expect(await driver.axe()).to.deep.equal([])
    await page.goto(`${opened.server.url}#/none`)
    await driver.sees('.empty', 'This folder is empty')
    expect(await driver.axe()).to.deep.equal([])
  })
})
