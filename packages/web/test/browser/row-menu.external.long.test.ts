import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

describeInBrowsers('The rows of the list', (browser) => {
  async function signedIn() {
    const server = await runPage()
    for (const name of ['a.txt', 'b.txt']) await server.put(name, `in ${name}`)
    const driver = await openDriver(browser(), server.url)
    await driver.signIn()
    await driver.page.waitForSelector('.rows .row')
    return { server, driver, [Symbol.asyncDispose]: () => endVisit(driver, server) }
  }

  it('are selected by a click, and opened by a double click', async () => {
    await using opened = await signedIn()
    const { page, reads, misses } = opened.driver
    await page.locator('[data-index="0"] .cell-size').click()
    await reads('1 selected')
    await page.locator('[data-index="0"] .cell-size').click()
    await reads('2 files')
    await page.locator('[data-index="1"] .cell-size').click({ count: 2 })
    await reads('in b.txt')
    await page.keyboard.press('Escape')
    await misses('dialog')
  })

  it('have a menu by the right button, which the keyboard walks through', async () => {
    await using opened = await signedIn()
    const { driver } = opened
    const { page, reads, misses, click } = driver
    await page.locator('[data-index="1"] .cell-size').click({ button: 'right' })
    await page.waitForSelector('.row-menu:popover-open')
    expect(await driver.axe()).to.deep.equal([])
    const focused = () => page.evaluate(() => document.activeElement?.textContent)
    expect(await focused()).to.equal('Open')
    await page.keyboard.press('ArrowUp')
    expect(await focused()).to.equal('Delete')
    await page.keyboard.press('Escape')
    await misses('.row-menu')
    await page.locator('[data-index="1"] .cell-size').click({ button: 'right' })
    await page.waitForSelector('.row-menu:popover-open')
    await click('.row-menu button:last-child')
    await reads('Deleting “b.txt”')
    expect(await driver.names()).to.deep.equal(['a.txt'])
  })

  it('have their actions in a menu on a phone', async () => {
    await using opened = await signedIn()
    const { driver } = opened
    const { page } = driver
    await page.setViewport({ width: 360, height: 740 })
    await page.locator('[data-index="0"] .row-more').click()
    await page.waitForSelector('.row-menu:popover-open')
    const { left, right, bottom } = await page.$eval(
      '.row-menu',
      (menu) => menu.getBoundingClientRect().toJSON() as DOMRect,
    )
    expect(left).to.be.at.least(0)
    expect(right).to.be.at.most(360)
    expect(bottom).to.be.at.most(740)
    expect(await driver.axe()).to.deep.equal([])
    await driver.click('.row-menu button')
    await driver.reads('in a.txt')
  })
})
