import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

/** Names that a line of the preview cannot hold, at 360 px and at 1280 px. */
const names = [`${'a'.repeat(41)}.txt`, `${'b'.repeat(120)}.txt`, `${'word '.repeat(40)}end.txt`]

describeInBrowsers('Long names', (browser) => {
  async function signedIn() {
    const server = await runPage()
    for (const name of names) await server.put(name, 'the text of it')
    const driver = await openDriver(browser(), server.url)
    await driver.signIn()
    await driver.page.waitForSelector('.rows .row')
    return { driver, [Symbol.asyncDispose]: () => endVisit(driver, server) }
  }

  it('leave the preview and its buttons in sight', async () => {
    await using opened = await signedIn()
    const { page, reads, press, misses } = opened.driver
    for (const [width, height] of [
      [360, 740],
      [1280, 800],
    ] as const) {
      await page.setViewport({ width, height })
      for (const name of names) {
        await page.locator(`.rows [title="${name}"]`).click()
        await reads('the text of it')
        const wide = await page.$eval('.preview', (each) => each.scrollWidth - each.clientWidth)
        expect(wide, `${name} at ${width} px`).to.equal(0)
        await press('button', 'Close')
        await misses('dialog')
      }
    }
  })

  it('take at most three lines of a notice', async () => {
    await using opened = await signedIn()
    const { page, sees, click } = opened.driver
    await page.setViewport({ width: 360, height: 740 })
    for (const name of names) {
      await page.locator(`.rows [title="${name}"]`).click()
      await click(`.preview [aria-label="Delete ${name}"]`)
      await sees('.notice', 'Deleting')
      await sees('.notice', '.txt')
      const lines = await page.$$eval('.notice p', (all) =>
        all.map((each) => {
          const { lineHeight, paddingBlockStart: padding } = getComputedStyle(each)
          return (
            (each.clientHeight - 2 * Number.parseFloat(padding)) / Number.parseFloat(lineHeight)
          )
        }),
      )
      expect(Math.max(...lines)).to.be.below(3.5)
    }
  })
})
