import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

describeInBrowsers('The list', (browser) => {
  it('shows within seconds what others store, replace and delete, and says what is new', async () => {
    await using server = await runPage()
    for (const name of ['a.txt', 'c.txt', 'd.txt']) await server.put(name, 'old')
    const driver = await openDriver(browser(), server.url)
    await using _visit = { [Symbol.asyncDispose]: () => endVisit(driver, server) }
    await driver.signIn()
    await driver.reads('3 files')
    await server.put('b.txt', 'new')
    await server.put('c.txt', 'longer than before')
    await server.remove('d.txt')
    await driver.sees('.rows .name', 'b')
    await driver.reads('“b.txt” has arrived.', '18 bytes')
    expect(await driver.names()).to.deep.equal(['a.txt', 'b.txt', 'c.txt'])
    // What the page itself has stored is no news.
    await driver.drop([{ name: 'e.txt', content: 'own' }])
    await driver.reads('4 files')
    await server.put('f.txt', 'new')
    await driver.reads('“f.txt” has arrived.')
    await driver.misses('.notice', 'e.txt')
  })
})
