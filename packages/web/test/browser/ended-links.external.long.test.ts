import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

describeInBrowsers('The page ends all links', (browser) => {
  it('after a question, from the menu of the account', async () => {
    const server = await runPage()
    await server.put('a.txt', 'content')
    const driver = await openDriver(browser(), server.url)
    await using _ = { [Symbol.asyncDispose]: () => endVisit(driver, server) }
    await driver.signIn()
    await driver.sees('.main', 'a.txt')
    await driver.press('button', 'Make a link')
    await driver.press('button', 'Make the link')
    await driver.reads('Valid until')
    const link = await driver.value('Address of the link')
    expect((await fetch(link)).status).to.equal(200)
    await driver.press('button', 'Close')
    await driver.press('button', 'Account and settings')
    await driver.press('button', 'End all links')
    await driver.sees('dialog', 'End all links that you have made?')
    expect(await driver.axe()).to.deep.equal([])
    await driver.press('button', 'Keep them')
    await driver.misses('dialog')
    expect((await fetch(link)).status).to.equal(200)
    await driver.press('button', 'Account and settings')
    await driver.press('button', 'End all links')
    await driver.click('dialog .button-danger')
    await driver.sees('.notices', 'All links are ended.')
    expect((await fetch(link)).status).to.equal(403)
  })
})
