import type { BrowserContext, OpenBrowser } from '@holdfast/testing/browsers'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

const size = 17 * 1024 * 1024
const film = { name: 'film.bin', content: 'y', times: size, lastModified: 7 }

/** Two pages of one visitor, of which the first one sends a file. */
const tests = (browser: () => OpenBrowser) => {
  /** Opens the page in another tab of the same visitor. */
  const openTab = (context: BrowserContext, url: string) =>
    openDriver(
      {
        ...browser(),
        newPage: async () => {
          const page = await context.newPage()
          page.setDefaultTimeout(20_000)
          return page
        },
      },
      url,
    )

  /** Has a first tab begin an upload, of which nothing arrives until `goOn` is called, and opens a second tab. */
  async function openTabs(url: string) {
    const context = await browser().newContext()
    const first = await openTab(context, url)
    const { promise: mayGoOn, resolve } = Promise.withResolvers<undefined>()
    await first.page.setRequestInterception(true)
    first.page.on('request', (request) => {
      if (request.method() !== 'PATCH') return void request.continue()
      void mayGoOn.then(() => request.continue()).catch(() => {})
    })
    await first.signIn()
    await first.reads('Nothing here yet')
    await first.drop([film])
    await first.page.waitForFunction(
      () => localStorage.getItem('holdfast:unfinished:anna') !== null,
    )
    const second = await openTab(context, url)
    await second.signIn()
    await second.reads('Nothing here yet')
    return { first, second, goOn: () => resolve(undefined) }
  }

  it('does not offer in one tab what another one sends', async () => {
    await using server = await runPage()
    const { first, second, goOn } = await openTabs(server.url)
    await second.misses('.upload-unfinished')
    goOn()
    await first.reads('All uploads are done')
    expect(await server.content(film.name)).to.have.length(size)
    expect(server.asked.filter((each) => each.startsWith('DELETE'))).to.deep.equal([])
  })

  it('sends the same file on its own where it is chosen in another tab, too', async () => {
    await using server = await runPage()
    const { first, second, goOn } = await openTabs(server.url)
    await second.drop([film])
    await second.reads('All uploads are done')
    expect(server.asked.filter((each) => each === 'POST /resumable')).to.have.length(2)
    goOn()
    expect(await first.conflict([])).to.equal(film.name)
    expect(await server.content(film.name)).to.have.length(size)
  })

  it('offers it in the other tab after the one that sent it was closed', async () => {
    await using server = await runPage()
    const { first, second } = await openTabs(server.url)
    await second.misses('.upload-unfinished')
    await first.page.close({ runBeforeUnload: false })
    await second.sees('.upload-unfinished', film.name)
    await second.drop([film])
    await second.reads('All uploads are done')
    expect(await server.content(film.name)).to.have.length(size)
    expect(server.asked.filter((each) => each === 'POST /resumable')).to.have.length(1)
  })
}

describeInBrowsers('An upload by the page in one of two tabs', tests, {
  names: ['chromium'],
  watchesNetwork: true,
})
