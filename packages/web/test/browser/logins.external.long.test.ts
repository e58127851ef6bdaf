import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import type { Right } from '@holdfast/core'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { createKeyboardDriver } from './keyboard-driver.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

const logins: Readonly<Record<string, readonly Right[]>> = {
  reader: ['list', 'read'],
  adder: ['list', 'read', 'create'],
  lister: ['list'],
  dropper: ['create'],
}

describeInBrowsers('The page for a further login', (browser) => {
  async function open(login: string, width = 1280) {
    const server = await runPage(createMemoryBlobStore(), logins)
    await server.put('notes.txt', 'of anna')
    const driver = await openDriver(browser(), server.url)
    await driver.page.setViewport({ width, height: 800 })
    await driver.signIn('sesame', `anna/${login}`)
    return {
      server,
      driver,
      keys: createKeyboardDriver(driver),
      [Symbol.asyncDispose]: () => endVisit(driver, server),
    }
  }

  /** The names of all buttons that are not in a closed menu. */
  const buttonsOf = ({ page }: Awaited<ReturnType<typeof openDriver>>) =>
    page.$$eval('button', (buttons) =>
      buttons
        .filter((button) => button.checkVisibility())
        .map((button) => button.ariaLabel ?? button.textContent.trim()),
    )

  const shot = async (driver: Awaited<ReturnType<typeof openDriver>>, name: string) => {
    const directory = process.env['HOLDFAST_SCREENSHOTS']
    if (directory) await writeFile(join(directory, `${name}.png`), await driver.page.screenshot())
  }

  it('that may only read shows what can be read, and nothing that changes', async () => {
    await using opened = await open('reader')
    const { driver, keys, server } = opened
    await driver.sees('.rows', 'notes.txt')
    await driver.misses('.head', 'Upload')
    const buttons = await buttonsOf(driver)
    expect(buttons).to.include('Download notes.txt')
    for (const missing of ['Delete notes.txt', 'Rename notes.txt', 'Upload', 'Ask for files']) {
      expect(buttons).to.not.include(missing)
    }
    await shot(driver, 'login-reader')
    expect(await driver.axe()).to.deep.equal([])
    await keys.tabTo('notes.txt')
    await keys.press('F2')
    await keys.press('Delete')
    await keys.press('Enter')
    await driver.sees('dialog', 'of anna')
    expect(await buttonsOf(driver)).to.not.include('Delete notes.txt')
    await keys.press('Escape')
    await driver.drop([{ name: 'new.txt', content: 'x' }])
    expect(await server.names()).to.deep.equal(['notes.txt'])
    expect(driver.complaints).to.deep.equal([])
  })

  it('that may add offers to keep both files where a name is taken, and not to replace one', async () => {
    await using opened = await open('adder')
    const { driver, server } = opened
    await driver.sees('.rows', 'notes.txt')
    await driver.misses('.rows button[aria-label]', 'Delete')
    await driver.drop([{ name: 'notes.txt', content: 'other' }])
    await driver.sees('dialog.conflict', 'Keep both')
    await driver.misses('dialog.conflict', 'Replace')
    await shot(driver, 'login-adder')
    await driver.decide('Keep both')
    await until('both are there', async () => (await server.names()).length === 2)
    expect(await server.content('notes.txt')).to.equal('of anna')
  })

  it('that may only list opens no file', async () => {
    await using opened = await open('lister')
    const { driver, keys } = opened
    await driver.sees('.rows', 'notes.txt')
    await driver.misses('.head', 'Upload')
    await keys.tabTo('notes.txt')
    await keys.press('Enter')
    await driver.misses('dialog')
    expect(await driver.axe()).to.deep.equal([])
  })

  it('that may only add says so, and takes files', async () => {
    await using opened = await open('dropper', 360)
    const { driver, server } = opened
    await driver.sees('.main', 'Add files')
    await driver.reads('With this login you can add files, and not see what is stored.')
    await shot(driver, 'login-dropper')
    expect(await driver.axe()).to.deep.equal([])
    await driver.drop([{ name: 'new.txt', content: 'x' }])
    await until('it is stored', async () => (await server.content('new.txt')) === 'x')
    await driver.sees('.rows', 'new.txt')
    expect(await buttonsOf(driver)).to.not.include('Download new.txt')
    expect(driver.complaints).to.deep.equal([])
  })
})
