import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

describeInBrowsers('Many small files', (browser) => {
  it('share requests, each with its own row and its own question', async () => {
    await using server = await runPage()
    await server.put('17.txt', 'old')
    const driver = await openDriver(browser(), server.url)
    await using _visit = { [Symbol.asyncDispose]: () => endVisit(driver, server) }
    await driver.signIn()
    await driver.reads('1 file')
    const before = server.asked.length
    const startedAt = performance.now()
    await driver.drop(
      Array.from({ length: 200 }, (_, at) => ({ name: `${at}.txt`, content: 'x', times: 4096 })),
    )
    expect(await driver.conflict([])).to.equal('17.txt')
    await driver.sees('.uploads', '199 of 200 done')
    // Some 2 s on an idle machine.
    expect(performance.now() - startedAt).to.be.below(15_000)
    await driver.decide('Keep both')
    await driver.sees('.uploads', 'All uploads are done')
    expect(await server.names()).to.have.length(201)
    expect(await server.content('17.txt')).to.equal('old')
    expect((await server.content('17 (2).txt'))?.length).to.equal(4096)
    const requests = (part: string) =>
      server.asked.slice(before).filter((each) => each.startsWith(part)).length
    expect(requests('POST /upload/batch')).to.be.within(2, 60)
    expect(requests('PUT /upload')).to.equal(0)
  })

  it('are asked about before their bytes go where the list has the name', async () => {
    await using server = await runPage()
    await server.put('a.txt', 'old')
    const driver = await openDriver(browser(), server.url)
    await using _visit = { [Symbol.asyncDispose]: () => endVisit(driver, server) }
    await driver.signIn()
    await driver.reads('1 file')
    const before = server.asked.length
    await driver.drop([{ name: 'a.txt', content: 'new' }])
    await driver.conflict([])
    expect(
      server.asked.slice(before).filter((each) => /^(PUT|POST) \/upload/.test(each)),
    ).to.deep.equal([])
    await driver.decide('Replace')
    await driver.sees('.uploads', 'All uploads are done')
    expect(await server.content('a.txt')).to.equal('new')
  })
})
