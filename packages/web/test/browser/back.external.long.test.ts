import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

describeInBrowsers('The address of the page', (browser) => {
  async function signedIn(hash = '') {
    const server = await runPage(undefined, {}, { keepReplacedMs: 3_600_000 })
    for (const name of ['a.txt', 'b & c=d #+%.txt', 'c.pdf']) await server.put(name, `in ${name}`)
    const driver = await openDriver(browser(), server.url + hash)
    const { page } = driver
    await driver.signIn()
    await page.waitForSelector('.rows .row')
    const hashIs = (wanted: string) =>
      until(
        () => `the address is ${wanted}`,
        () => page.evaluate((hash) => location.hash === hash, wanted),
      )
    const depthIs = (wanted: number) =>
      until(`${wanted} are open`, () =>
        page.evaluate(
          (depth) => ((history.state as { depth?: number } | null)?.depth ?? 0) === depth,
          wanted,
        ),
      )
    const back = () => page.evaluate(() => history.back())
    return {
      server,
      driver,
      hashIs,
      depthIs,
      back,
      [Symbol.asyncDispose]: () => endVisit(driver, server),
    }
  }

  it('has what is open, and Back closes one after the other without leaving the page', async () => {
    await using opened = await signedIn()
    const { driver, hashIs, depthIs, back } = opened
    const { page, reads, misses, names, click, press } = driver
    const length = await page.evaluate(() => history.length)
    await page.locator('.filter input').fill('txt')
    await reads('2 of 3 files')
    await hashIs('#filter=txt')
    await click('.rows [title="b & c=d #+%.txt"]')
    await reads('in b & c=d #+%.txt')
    await hashIs('#filter=txt&file=b%20%26%20c%3Dd%20%23%2B%25.txt')
    await press('button', 'Previous file')
    await reads('in a.txt')
    await hashIs('#filter=txt&file=a.txt')
    await page.locator('.preview [aria-label="Make a link"]').click()
    await page.waitForSelector('dialog.link')
    await depthIs(3)
    await back()
    await misses('dialog.link')
    await reads('in a.txt')
    await back()
    await misses('dialog')
    await reads('2 of 3 files')
    await back()
    await reads('3 files')
    expect(await names()).to.have.length(3)
    await page.evaluate(() => history.forward())
    await reads('2 of 3 files')
    expect(await page.evaluate(() => history.length)).to.be.at.most(length + 3)
  })

  it('goes back by itself where a dialog is closed, so that no entry is left', async () => {
    await using opened = await signedIn()
    const { driver, hashIs, depthIs } = opened
    const { page, reads, misses, click } = driver
    for (const name of ['a.txt', 'c.pdf']) {
      await click(`.rows [title="${name}"]`)
      await hashIs(`#file=${name}`)
      await page.keyboard.press('Escape')
      await misses('dialog')
      await hashIs('')
    }
    await click('.rows [title="a.txt"]')
    await reads('in a.txt')
    await hashIs('#file=a.txt')
    // One dialog follows the other.
    await page.locator('.preview [aria-label="Rename a.txt"]').click()
    await page.waitForSelector('dialog.rename')
    await hashIs('')
    await page.keyboard.press('Escape')
    await misses('dialog')
    await depthIs(0)
  })

  it('opens a file and a filter by a link, and says so where there is no such file', async () => {
    await using opened = await signedIn('#filter=txt&file=a.txt')
    const { driver, hashIs, depthIs, back } = opened
    const { page, reads, misses, signIn } = driver
    await reads('in a.txt')
    await depthIs(2)
    await back()
    await misses('dialog')
    await reads('2 of 3 files')
    await page.evaluate(() => (location.hash = '#file=gone.txt'))
    await reads('“gone.txt” could not be opened. The file is not there any more.')
    await hashIs('')
    await driver.click('.menu .button:last-child')
    await page.waitForSelector('.sign-in-card')
    await signIn()
    await page.waitForSelector('.rows .row')
    await misses('dialog')
  })

  it('leads to the deleted files, and to one of them', async () => {
    await using opened = await signedIn()
    const { server, driver, hashIs, back } = opened
    const { page, reads, misses } = driver
    await server.remove('a.txt')
    await driver.press('button', 'Reload the list')
    await reads('2 files')
    await driver.click('a[href="#deleted"]')
    await reads('Deleted files', '1 file')
    await driver.click('.rows [title="a.txt"]')
    await reads('in a.txt')
    await hashIs('#deleted&file=a.txt')
    await back()
    await misses('dialog')
    await hashIs('#deleted')
    await back()
    await reads('2 files')
    await page.waitForFunction(() => !document.querySelector('.main-deleted'))
  })
})
