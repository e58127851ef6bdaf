import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { createKeyboardDriver, type KeyboardDriver } from './keyboard-driver.ts'
import { openDriver, type PageDriver } from './page-driver.ts'
import { runPage, type RunningPage } from './running-page.ts'
import { startLine, type Line } from './start-line.ts'

interface Opened extends AsyncDisposable {
  readonly server: RunningPage
  readonly driver: PageDriver
  readonly keys: KeyboardDriver
}

describeInBrowsers('The page by the keyboard alone', (browser) => {
  async function open(files: Readonly<Record<string, string>> = {}, line?: Line): Promise<Opened> {
    const server = await runPage()
    for (const [name, content] of Object.entries(files)) await server.put(name, content)
    line?.lead(Number(new URL(server.url).port))
    const driver = await openDriver(browser(), line?.url ?? server.url)
    return {
      server,
      driver,
      keys: createKeyboardDriver(driver),
      [Symbol.asyncDispose]: () => endVisit(driver, server),
    }
  }

  async function signedIn(...given: Parameters<typeof open>): Promise<Opened> {
    const opened = await open(...given)
    const [files = {}] = given
    const { driver, keys } = opened
    await keys.focuses('Name')
    await driver.page.keyboard.type('anna')
    await keys.tabTo('Password')
    await driver.page.keyboard.type('sesame')
    await keys.press('Enter')
    await keys.focuses('main')
    await driver.sees('.main', Object.keys(files)[0] ?? 'Nothing here yet')
    return opened
  }

  async function expectNoFindings({ keys }: Opened, state: string) {
    expect(await keys.findings(), state).to.deep.equal([])
  }

  it('signs in, changes the settings, and signs out', async () => {
    await using opened = await open()
    const { driver, keys } = opened
    const { page, reads } = driver
    await keys.focuses('Name')
    await page.keyboard.type('anna')
    await keys.tabTo('Password')
    await page.keyboard.type('a guess')
    await keys.activate('Sign in')
    await reads('Name or password is wrong')
    await keys.focuses('Password')
    await expectNoFindings(opened, 'a wrong password')
    await page.keyboard.type('sesame')
    await keys.press('Enter')
    await keys.focuses('main')

    await keys.activate('Account and settings', 'back')
    await keys.tabTo('Language')
    await keys.tabTo('Appearance')
    await expectNoFindings(opened, 'the settings')
    await keys.press('Escape')
    await keys.focuses('Account and settings')
    await keys.press('Enter')
    await keys.activate('Sign out')
    await keys.focuses('Name')
  })

  it('chooses files, answers what becomes of a taken name, and clears the list of uploads', async () => {
    await using opened = await signedIn({ 'a.txt': 'old', 'b.txt': 'old' })
    const { driver, keys, server } = opened
    const paths = ['a.txt', 'b.txt', 'c.txt'].map((name) => join(browser().home, name))
    for (const path of paths) await writeFile(path, 'new')
    await keys.tabTo('Upload', 'back')
    const chosen = driver.page.waitForFileChooser()
    // What asks the browser for the dialog's question is on its way; an answer says that it has arrived.
    await driver.page.title()
    await keys.press('Enter')
    await (await chosen).accept(paths)
    const first = await driver.conflict([])
    await keys.focuses('Keep both')
    await expectNoFindings(opened, 'a taken name')
    await keys.activate('Replace')
    await driver.conflict([first])
    await keys.focuses('Replace')
    await keys.activate('Skip')
    await driver.misses('dialog')
    await keys.focuses('Upload')
    await until('it is replaced', async () => (await server.content(first)) === 'new')
    await keys.activate('Clear')
    await driver.misses('.uploads')
    await keys.focuses('a.txt')
  })

  it('pauses, resumes and cancels uploads', async () => {
    await using line = await startLine()
    await using opened = await signedIn({ 'a.txt': 'old' }, line)
    const { driver, keys } = opened
    line.holdAfter(0)
    await driver.drop(['b.txt', 'c.txt'].map((name) => ({ name, content: name })))
    await keys.activate('Pause b.txt')
    await keys.focuses('Resume b.txt')
    await keys.press('Enter')
    await keys.focuses('Pause b.txt')
    await keys.activate('Cancel b.txt')
    await keys.focuses('Pause c.txt')
    await keys.activate('Pause all', 'back')
    await keys.focuses('Resume all')
    await expectNoFindings(opened, 'paused uploads')
    await keys.activate('Cancel c.txt')
    await driver.misses('.uploads')
    await keys.focuses('a.txt')
  })

  it('sorts, selects and deletes, and takes deletions back', async () => {
    await using opened = await signedIn({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c', 'd.txt': 'd' })
    const { driver, keys, server } = opened
    await driver.page.evaluate(() => {
      // Time to undo that does not run out.
      const setTimer = window.setTimeout.bind(window)
      const wait = (run: () => void, ms = 0) => (ms === 5000 ? 0 : setTimer(run, ms))
      Object.assign(window, { setTimeout: wait })
    })
    await keys.activate('Name')
    await keys.focuses('Name')
    await keys.press('Enter')
    await keys.tabTo('a.txt')
    await keys.activate('Delete a.txt')
    await keys.focuses('b.txt')
    await keys.press('Delete')
    await keys.focuses('c.txt')
    await keys.press('Control+z')
    await driver.sees('.rows .name', 'b.txt')
    await keys.focuses('c.txt')
    await keys.press('Control+z')
    await driver.sees('.rows .name', 'a.txt')
    await keys.focuses('c.txt')
    await keys.press(' ')
    await driver.reads('1 selected')
    await keys.press('ArrowDown', ' ')
    await driver.reads('2 selected')
    await expectNoFindings(opened, 'selected files')
    await keys.activate('Delete', 'back')
    await keys.focuses('b.txt')
    await keys.press('Home', 'Delete')
    await keys.focuses('b.txt')
    await keys.press('Delete')
    await keys.focuses('main')
    await driver.reads('4 files are being deleted')
    await expectNoFindings(opened, 'no files')
    await keys.tabTo('Undo')
    for (const name of ['c.txt', 'a.txt']) {
      await keys.press('Enter')
      await driver.sees('.rows .name', name)
      await keys.focuses('Undo')
    }
    await keys.press('Enter')
    await keys.focuses('c.txt')
    expect(server.asked.filter((each) => each.startsWith('DELETE'))).to.deep.equal([])
  })

  it('filters, comes from the filter into the list, and clears it', async () => {
    await using opened = await signedIn({ 'a.txt': 'a', 'b.pdf': 'b', 'c.txt': 'c' })
    const { driver, keys } = opened
    await keys.press('/')
    await keys.focuses('Filter by name')
    await driver.page.keyboard.type('txt')
    await driver.reads('2 of 3 files')
    await keys.press('ArrowDown')
    await keys.focuses('a.txt')
    await keys.press('End')
    await keys.focuses('c.txt')
    await keys.press('/')
    await keys.focuses('Filter by name')
    await driver.page.keyboard.type(' nothing')
    await driver.reads('No name')
    await keys.focuses('Filter by name')
    await expectNoFindings(opened, 'a filter that leaves nothing')
    await keys.activate('Clear the filter')
    await keys.focuses('Filter by name')
    await driver.page.keyboard.type('nothing')
    await driver.reads('No name')
    await keys.tabTo('Clear the filter')
    await keys.activate('Clear the filter')
    await driver.reads('3 files')
    await keys.focuses('a.txt')
    await keys.press(' ')
    await driver.reads('1 selected')
    await keys.press('Escape')
    await driver.reads('3 files')
  })

  it('previews one file after the other, and deletes the one that is shown', async () => {
    await using opened = await signedIn({ 'a.txt': 'text of a', 'b.txt': 'text of b', 'c.txt': '' })
    const { driver, keys } = opened
    await keys.activate('a.txt')
    await driver.reads('text of a')
    await expectNoFindings(opened, 'a preview')
    await keys.press('ArrowRight')
    await driver.reads('text of b')
    await keys.activate('Previous file')
    await driver.reads('text of a')
    await keys.focuses('Previous file')
    await keys.press('Escape')
    await driver.misses('dialog')
    await keys.focuses('a.txt')
    await keys.press('Enter')
    await keys.activate('Delete a.txt')
    await driver.misses('dialog')
    await keys.focuses('b.txt')
  })

  it('makes a link, and packs a ZIP', async () => {
    await using opened = await signedIn({ 'a.txt': 'a', 'b.txt': 'b' })
    const { driver, keys } = opened
    await keys.tabTo('a.txt')
    await keys.activate('Make a link')
    await keys.tabTo('1 day')
    await keys.press('ArrowRight')
    await keys.focuses('7 days')
    await keys.tabTo('Opens a page')
    await keys.press('ArrowRight')
    await keys.focuses('Saves the file')
    await keys.activate('Make the link')
    await driver.reads('Copy')
    await expectNoFindings(opened, 'a link')
    await keys.tabTo('Address')
    await keys.tabTo('Copy')
    await keys.press('Escape')
    await driver.misses('dialog')
    await keys.focuses('Make a link')
    await driver.page.evaluate(() => {
      Reflect.deleteProperty(window, 'showSaveFilePicker')
    })
    await keys.press('Control+a')
    await driver.reads('2 selected')
    await keys.activate('Download as ZIP', 'back')
    await driver.misses('.notices', 'Packing')
    await keys.focuses('Download as ZIP')
    await keys.activate('Clear the selection', 'back')
    await driver.reads('2 files')
    await keys.focuses('a.txt')
  })
})
