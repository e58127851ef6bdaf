import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FileServiceError, type BlobStore, type Right } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { createKeyboardDriver } from './keyboard-driver.ts'
import { openDriver, type PageDriver } from './page-driver.ts'
import { runPage, type RunningPage } from './running-page.ts'

const logins: Readonly<Record<string, readonly Right[]>> = {
  lister: ['list'],
  reader: ['list', 'read'],
  adder: ['list', 'read', 'create'],
  dropper: ['create'],
}

interface Options {
  readonly store?: BlobStore
  readonly login?: string
  readonly keepReplacedMs?: number
  readonly width?: number
  readonly hash?: string
}

const shot = async ({ page }: PageDriver, name: string) => {
  const directory = process.env['HOLDFAST_SCREENSHOTS']
  if (directory) await writeFile(join(directory, `${name}.png`), await page.screenshot())
}

describeInBrowsers('The page of a server that keeps what is replaced', (browser, _name, once) => {
  async function open(prepare: (server: RunningPage) => Promise<void>, options: Options = {}) {
    const { store = createMemoryBlobStore(), keepReplacedMs = 86_400_000, width = 1280 } = options
    const server = await runPage(store, logins, { keepReplacedMs })
    await prepare(server)
    const driver = await openDriver(browser(), `${server.url}${options.hash ?? ''}`)
    await driver.page.setViewport({ width, height: 800 })
    await driver.signIn('sesame', options.login === undefined ? 'anna' : `anna/${options.login}`)
    return {
      server,
      driver,
      keys: createKeyboardDriver(driver),
      [Symbol.asyncDispose]: () => endVisit(driver, server),
    }
  }

  /** Stores files, and deletes them. */
  const deleted =
    (...names: readonly string[]) =>
    async (server: RunningPage) => {
      await server.put('present.txt', 'still there')
      for (const name of names) {
        await server.put(name, `content of ${name}`)
        await server.remove(name)
      }
    }

  const openDeleted = async ({ page, sees }: PageDriver) => {
    await sees('.status', 'Deleted files')
    await page.locator('a[href="#deleted"]').click()
    await sees('h2', 'Deleted files')
  }

  describe('lists the deleted files', () => {
    it('shows and restores one, and Back leads to the files', async () => {
      await using opened = await open(deleted('a.txt', 'b.txt'))
      const { server, driver } = opened
      await openDeleted(driver)
      await driver.sees('.status', '2 files')
      await driver.misses('.rows', 'present.txt')
      expect(await driver.axe()).to.deep.equal([])
      await shot(driver, 'deleted')
      await driver.press('button', 'Open a.txt')
      await driver.sees('dialog', 'content of a.txt')
      await driver.press('button', 'Close')
      await driver.press('button', 'Restore a.txt')
      await driver.sees('.notices', '“a.txt” is restored.')
      await driver.sees('.status', '1 file')
      expect(await server.content('a.txt')).to.equal('content of a.txt')
      await driver.page.evaluate(() => history.back())
      await driver.sees('.rows', 'a.txt')
      await driver.page.evaluate(() => history.forward())
      await driver.sees('.rows', 'b.txt')
    })

    it('by a link in the address, and by the keyboard alone', async () => {
      await using opened = await open(deleted('a.txt', 'b.txt'), { hash: '#deleted' })
      const { server, driver, keys } = opened
      await driver.sees('.status', '2 files')
      expect(await keys.findings()).to.deep.equal([])
      await keys.tabTo('b.txt')
      await keys.press('Control+a')
      await driver.sees('.status', '2 selected')
      await keys.activate('Restore', 'back')
      await driver.sees('.empty', 'No deleted files')
      await until('both are restored', async () => (await server.names()).length === 3)
      await keys.activate('Back to the files')
      await driver.sees('.rows', 'a.txt')
    })

    it('restores many, shows how many are done, and lists what could not be restored', async () => {
      const gate = Promise.withResolvers<undefined>()
      const names = Array.from({ length: 120 }, (_, index) => `file ${index + 100}`)
      const store = withRestore(async (name) => {
        if (name === names[100]) await gate.promise
        if (name === names[7] || name === names[30]) {
          throw new FileServiceError('quota-exceeded', 'Quota exceeded')
        }
      })
      await using opened = await open(deleted(...names), { store })
      const { server, driver } = opened
      await openDeleted(driver)
      await driver.sees('.status', '120 files')
      await driver.fill('Filter by name', 'file')
      await driver.click('[aria-label="Select all"]')
      await shot(driver, 'deleted-selected')
      await driver.press('button', 'Restore')
      await driver.sees('.notices', 'Restored 119 of 120 files')
      gate.resolve(undefined)
      await driver.sees('dialog', '2 files could not be restored')
      await driver.sees('dialog', 'your quota is used up')
      expect(await driver.axe()).to.deep.equal([])
      await shot(driver, 'deleted-failed')
      await driver.press('button', 'Close')
      await driver.sees('.status', '2 selected')
      expect(await server.names()).to.have.length(119)
    })

    it('asks where a name is taken meanwhile, and decides for all', async () => {
      await using opened = await open(deleted('a.txt', 'b.txt', 'c.txt'))
      const { server, driver } = opened
      await openDeleted(driver)
      await driver.sees('.status', '3 files')
      for (const name of ['a.txt', 'b.txt', 'c.txt']) await server.put(name, 'new')
      await driver.click('[aria-label="Select all"]')
      await driver.press('button', 'Restore')
      const first = await driver.conflict([])
      await driver.sees('dialog', 'becomes an earlier version')
      expect(await driver.axe()).to.deep.equal([])
      await shot(driver, 'deleted-taken')
      await driver.decide('Replace')
      const second = await driver.conflict([first])
      await driver.tick('Do the same for every further name')
      await driver.decide('Keep both')
      await driver.misses('dialog')
      await until('all are there', async () => (await server.names()).length === 6)
      expect(await server.content(first)).to.equal(`content of ${first}`)
      expect(await server.content(second)).to.equal('new')
      const other = second.replace('.txt', ' (2).txt')
      expect(await server.content(other)).to.equal(`content of ${second}`)
    })

    it('where there is none, and in a narrow window', async () => {
      await using opened = await open((server) => server.put('present.txt', 'a'), { width: 360 })
      const { driver } = opened
      await openDeleted(driver)
      await driver.sees('.empty', 'No deleted files')
      expect(await driver.axe()).to.deep.equal([])
      await shot(driver, 'deleted-empty-360')
    })

    once('keeps its tools in a window of 360 pixels, also in German', async () => {
      await using opened = await open(deleted('Quittung März.pdf', 'b.txt'), { width: 360 })
      const { driver } = opened
      await driver.page.evaluate(() => localStorage.setItem('holdfast:language', 'de'))
      await driver.page.goto(`${opened.server.url}?de`)
      await driver.page.waitForSelector('[name=password]')
      await driver.page.evaluate(() => {
        for (const field of document.querySelectorAll<HTMLInputElement>('.sign-in input')) {
          if (field.type !== 'checkbox') field.value = field.name === 'username' ? 'anna' : 'sesame'
        }
        document.querySelector('form')?.requestSubmit()
      })
      await driver.sees('.rows', 'present.txt')
      await driver.page.waitForSelector('a[href="#deleted"]')
      await shot(driver, 'list-360')
      expect(await sideways(driver)).to.equal(false)
      await driver.page.locator('a[href="#deleted"]').click()
      await driver.sees('.status', '2 Dateien')
      await shot(driver, 'deleted-360')
      await driver.click('.row-head [type=checkbox]')
      await driver.sees('.status', '2 ausgewählt')
      await shot(driver, 'deleted-selected-360')
      expect(await sideways(driver)).to.equal(false)
    })
  })

  describe('lists the earlier versions of a file', () => {
    const versioned = async (server: RunningPage) => {
      for (const content of ['first', 'second', 'third']) await server.put('notes.txt', content)
    }

    it('shows and restores one, and takes that back', async () => {
      await using opened = await open(versioned)
      const { server, driver } = opened
      await driver.sees('.rows', 'notes.txt')
      await driver.press('button', 'Earlier versions of notes.txt')
      await driver.sees('.versions', 'the present version becomes an earlier one')
      await driver.page.waitForSelector('.version:nth-child(2)')
      expect(await driver.axe()).to.deep.equal([])
      await shot(driver, 'versions')
      await driver.click('.version:nth-child(2) button')
      await driver.sees('dialog.preview', 'first')
      await shot(driver, 'version-preview')
      await driver.click('dialog.preview [aria-label=Close]')
      await driver.misses('dialog.preview')
      await driver.click('.version:nth-child(2) button:last-child')
      await driver.sees('.notices', 'is an earlier version now')
      await driver.misses('dialog')
      expect(await server.content('notes.txt')).to.equal('first')
      await driver.click('.notice-action')
      await driver.sees('.notices', '“notes.txt” is as before again.')
      expect(await server.content('notes.txt')).to.equal('third')
    })

    it('from the preview, and by the keyboard alone', async () => {
      await using opened = await open(versioned)
      const { server, driver, keys } = opened
      await driver.sees('.rows', 'notes.txt')
      await keys.tabTo('notes.txt')
      await keys.press('Enter')
      await driver.sees('dialog', 'third')
      await keys.activate('Earlier versions of notes.txt')
      await driver.page.waitForSelector('.version:nth-child(2)')
      expect(await keys.findings()).to.deep.equal([])
      await keys.activate('Restore the version')
      await driver.misses('dialog')
      await until('it is restored', async () => (await server.content('notes.txt')) === 'second')
      await keys.focuses('notes.txt')
    })

    once('lists them after a failed request when it is tried again', async () => {
      await using opened = await open(async (server) => {
        for (let time = 0; time < 52; time++) await server.put('notes.txt', `content ${time}`)
      })
      const { driver } = opened
      const counted = (count: number) =>
        driver.page.waitForFunction(
          (wanted) => document.querySelectorAll('.version').length === wanted,
          {},
          count,
        )
      await driver.sees('.rows', 'notes.txt')
      await setBroken(driver, true)
      await driver.press('button', 'Earlier versions of notes.txt')
      await driver.sees('.versions', 'The server cannot be reached')
      await driver.misses('.versions-none')
      await setBroken(driver, false)
      await driver.press('button', 'Try again')
      await counted(50)
      await setBroken(driver, true)
      await driver.press('button', 'Show older versions')
      await driver.sees('.versions', 'The server cannot be reached')
      await setBroken(driver, false)
      await driver.press('button', 'Try again')
      await counted(51)
      await driver.misses('.versions', 'The server cannot be reached')
    })

    it('says where there is none', async () => {
      await using opened = await open((server) => server.put('new.txt', 'a'), { width: 360 })
      const { driver } = opened
      await driver.sees('.rows', 'new.txt')
      await driver.click('[aria-label="Open new.txt"]')
      await driver.sees('dialog', 'a')
      await shot(driver, 'preview-360')
      await driver.click('dialog [aria-label^="Earlier versions"]')
      await driver.sees('.versions', 'There is no earlier version of this file.')
    })
  })

  it('leads to the deleted files also while the page itself goes back, since a dialog was closed', async () => {
    await using opened = await open(deleted('a.txt'))
    const { driver } = opened
    const { page } = driver
    await driver.sees('.status', 'Deleted files')
    await driver.press('button', 'Ask for files')
    await driver.sees('dialog', 'Ask others for files')
    await page.evaluate(() => {
      const go = history.go.bind(history)
      history.go = (by) => {
        go(by)
        document.querySelector<HTMLElement>('a[href="#deleted"]')?.click()
      }
    })
    // Its entry in the history is there a moment later.
    await page.waitForFunction(() => (history.state as { depth?: number } | null)?.depth === 1)
    await driver.click('dialog [aria-label="Close"]')
    await driver.sees('h2', 'Deleted files')
    await driver.sees('.rows', 'a.txt')
    expect(await page.evaluate(() => location.hash)).to.equal('#deleted')
  })

  it('says when it deletes that this can be restored, and asks more softly', async () => {
    const names = Array.from({ length: 101 }, (_, index) => `file ${index}`)
    await using opened = await open((server) =>
      Promise.all(names.map((name) => server.put(name, 'a'))).then(() => undefined),
    )
    const { driver } = opened
    await driver.sees('.status', '101 files')
    await driver.click('[aria-label="Select all"]')
    await driver.press('button', 'Delete')
    await driver.sees('dialog', 'They can be restored for a time.')
    await driver.click('dialog .button-main')
    await driver.sees('.notices', 'Deleting 101 files … It can be restored for a time.')
    await openDeleted(driver)
    await driver.sees('.empty', '101 files are being deleted')
    await driver.sees('.rows', 'file ')
    await driver.sees('.status', '101 files')
    await driver.page.locator('[aria-label="Account and settings"]').click()
    await driver.sees('.usage', 'Earlier versions and deleted files: 101 with 101 bytes.')
    await shot(driver, 'usage-kept')
  })

  it('offers a login only what it may do', async () => {
    const buttonsOf = (driver: PageDriver) =>
      driver.page.$$eval('button, main a', (all) => all.map((each) => each.ariaLabel ?? ''))
    const versions = 'Earlier versions of present.txt'
    for (const [login, expected] of [
      ['lister', [versions]],
      ['reader', [versions, 'Open a.txt', 'Download a.txt']],
      ['adder', [versions, 'Open a.txt', 'Download a.txt', 'Restore a.txt']],
    ] as const) {
      await using opened = await open(deleted('a.txt'), { login })
      const { driver } = opened
      await driver.sees('.rows', 'present.txt')
      await driver.page.waitForSelector('a[href="#deleted"]')
      const onList = await buttonsOf(driver)
      await openDeleted(driver)
      await driver.sees('.rows', 'a.txt')
      const offered = [...onList, ...(await buttonsOf(driver))].filter((label) =>
        [versions, 'Open a.txt', 'Download a.txt', 'Restore a.txt'].includes(label),
      )
      expect([...new Set(offered)], login).to.have.members([...expected])
    }
  })

  it('asks an adding login to keep both, or to skip, where a name is taken', async () => {
    await using opened = await open(deleted('a.txt'), { login: 'adder' })
    const { server, driver } = opened
    await openDeleted(driver)
    await driver.sees('.rows', 'a.txt')
    await server.put('a.txt', 'new')
    await driver.press('button', 'Restore a.txt')
    await driver.sees('dialog', 'Keep both')
    await driver.misses('dialog', 'Replace')
    await driver.decide('Skip')
    await driver.misses('dialog')
    expect(await server.content('a.txt')).to.equal('new')
  })

  it('shows nothing of it where nothing is kept, or by a store that cannot', async () => {
    const store = createMemoryBlobStore()
    Reflect.deleteProperty(store, 'history')
    for (const options of [{ keepReplacedMs: 0 }, { store }, { login: 'dropper' }]) {
      await using opened = await open((server) => server.put('a.txt', 'a'), {
        ...options,
        hash: '#deleted',
      })
      const { driver } = opened
      await driver.sees('.main', 'login' in options ? 'Add files' : 'a.txt')
      const labels = await driver.page.$$eval('.main *', (all) => all.map((each) => each.ariaLabel))
      expect(labels.filter((label) => /deleted|versions/i.test(label ?? ''))).to.deep.equal([])
    }
  })
})

/** Whether the content is wider than the page. */
const sideways = ({ page }: PageDriver) =>
  page.$eval('.page', ({ scrollWidth, clientWidth }) => {
    const grid = document.querySelector('.grid')?.getBoundingClientRect()
    return scrollWidth > clientWidth || (grid?.right ?? 0) > innerWidth - (grid?.left ?? 0)
  })

/** Breaks the connection of the page, or mends it. */
const setBroken = ({ page }: PageDriver, isBroken: boolean) =>
  page.evaluate((broken) => {
    const kept = globalThis as { unbroken?: typeof fetch }
    const { unbroken = fetch } = kept
    kept.unbroken = unbroken
    globalThis.fetch = broken ? () => Promise.reject(new TypeError('Broken')) : unbroken
  }, isBroken)

/** A store that calls `before` with the name of each file that is restored. */
function withRestore(before: (name: string) => Promise<void>): BlobStore {
  const store = createMemoryBlobStore()
  const { history } = store
  if (!history) throw new Error('The store has no history')
  return {
    ...store,
    history: {
      ...history,
      async restore(key, ...options) {
        await before(key.name)
        return history.restore(key, ...options)
      },
    },
  }
}
