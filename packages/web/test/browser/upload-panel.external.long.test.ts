import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'
import { startLine, type Line } from './start-line.ts'

const mebibyte = 1024 * 1024

describeInBrowsers('The panel of uploads', (browser, name, once) => {
  async function signedIn(files: readonly string[], line?: Line) {
    const server = await runPage()
    for (const file of files) await server.put(file, 'old')
    line?.lead(Number(new URL(server.url).port))
    const driver = await openDriver(browser(), line?.url ?? server.url)
    await driver.signIn()
    await driver.page.waitForSelector(files.length > 0 ? '.rows .row' : '.empty-new')
    return { server, driver, [Symbol.asyncDispose]: () => endVisit(driver, server) }
  }

  it('covers nothing of the list, however wide the window is', async () => {
    await using opened = await signedIn(['a.txt', 'b.txt'])
    const { page, drop, sees } = opened.driver
    await drop(Array.from({ length: 30 }, (_, at) => ({ name: `${at}.txt`, content: 'new' })))
    await sees('.uploads', 'All uploads are done')
    for (const width of [360, 768, 1280]) {
      await page.setViewport({ width, height: 740 })
      const [list, panel] = await Promise.all(
        ['.grid', '.uploads'].map((selector) =>
          page.$eval(selector, (each) => each.getBoundingClientRect().toJSON() as DOMRect),
        ),
      )
      expect(list!.bottom, `${width} px`).to.be.at.most(panel!.top)
      expect(list!.height, `${width} px`).to.be.above(200)
      expect(panel!.bottom, `${width} px`).to.be.at.most(740)
    }
  })

  it('shows how far the uploads are in the title of the tab', async () => {
    await using line = await startLine()
    await using opened = await signedIn([], line)
    const { page, drop, sees } = opened.driver
    line.holdAfter(6 * mebibyte)
    await drop([{ name: 'film.bin', content: 'y', times: 24 * mebibyte }])
    await line.held()
    await page.waitForFunction(() => /^[1-9]\d?% · holdfast$/.test(document.title))
    line.cut()
    line.mend()
    await sees('.uploads', 'All uploads are done')
    await page.waitForFunction(() => document.title === 'holdfast')
  })

  it('leaves a question open after Escape, and asks again when the upload is resumed', async () => {
    await using opened = await signedIn(['a.txt', 'b.txt'])
    const { server, driver } = opened
    const { page, drop, sees, misses, press, conflict, decide } = driver
    await drop(['a.txt', 'b.txt'].map((file) => ({ name: file, content: 'new' })))
    await conflict([])
    await page.waitForFunction(() => document.querySelectorAll('.upload-conflict').length === 2)
    await page.keyboard.press('Escape')
    await misses('dialog')
    await sees('.upload-paused', 'a.txt')
    expect(await server.content('a.txt')).to.equal('old')
    await press('button', 'Resume a.txt')
    expect(await conflict([])).to.equal('a.txt')
    await decide('Replace')
    await sees('.upload-done', 'a.txt')
    expect(await server.content('a.txt')).to.equal('new')
    expect(await server.content('b.txt')).to.equal('old')
  })

  if (name === 'chromium') {
    once('gives screen readers each name in one piece', async () => {
      await using opened = await signedIn([])
      const { page, drop, sees } = opened.driver
      const long = 'A file with a name that is split.txt'
      await drop([{ name: long, content: 'new' }])
      await sees('.uploads', 'All uploads are done')
      const tree = JSON.stringify(await page.accessibility.snapshot({ interestingOnly: false }))
      const parts = tree.match(/"name":"[^"]*split[^"]*"/g) ?? []
      expect(parts).to.include(`"name":"${long}"`)
      expect(parts.filter((part) => !part.includes(long))).to.deep.equal([])
    })
  }
})
