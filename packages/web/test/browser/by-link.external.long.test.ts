import type { OpenBrowser } from '@holdfast/testing/browsers'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver, type PageDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'
import { startLine, type Line } from './start-line.ts'

const mebibyte = 1024 * 1024
const phone = { width: 360, height: 740 }

/** Waits until the page listens: its title is set when files may be dropped. */
const ready = ({ page }: PageDriver) =>
  page.waitForFunction(() => document.title.endsWith(' – holdfast'))

/** A stranger who has opened a link of anna's. */
async function openLink(browser: OpenBrowser, name: string, linkOptions?: object) {
  const server = await runPage()
  const url = await server.uploadLink(name, linkOptions)
  const driver = await openDriver(browser, url)
  await ready(driver)
  return {
    server,
    url,
    driver,
    [Symbol.asyncDispose]: () => endVisit(driver, server),
  }
}

describeInBrowsers('A link to upload', (browser, _, once) => {
  const opened = (name: string, linkOptions?: object) => openLink(browser(), name, linkOptions)

  const fitsPhone = async ({ page }: PageDriver) => {
    await page.setViewport(phone)
    await page.waitForFunction((width) => innerWidth === width, {}, phone.width)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(phone.width)
  }

  it('opens a page that says who asks and what is allowed, and takes several files', async () => {
    await using stranger = await opened('in-', { prefix: true, maxFiles: 3, maxSize: 5_000_000 })
    const { server, driver } = stranger
    await driver.reads('Send files to anna', 'Up to 3 files', 'begin with “in-”', 'up to 5 MB')
    expect(await driver.page.title()).to.include('Send files to anna')
    await driver.drop([
      { name: 'a.txt', content: 'of a stranger' },
      { name: 'b.txt', content: 'b' },
    ])
    await driver.reads('Sent.', 'Your 2 files have arrived safely')
    await driver.drop([{ name: 'a.txt', content: 'another' }])
    await driver.reads('Your 3 files have arrived safely')
    // Nothing of the customer's was asked for.
    expect(server.asked.filter((each) => /serve|list|usage/.test(each))).to.deep.equal([])
    expect(await server.content('in-a.txt')).to.equal('of a stranger')
    expect(await server.names()).to.deep.equal(['in-a (2).txt', 'in-a.txt', 'in-b.txt'])
    expect(await driver.axe()).to.deep.equal([])
  })

  once('keeps each error until it is dismissed', async () => {
    await using stranger = await opened('in-', { prefix: true, maxFiles: 1, maxSize: 10 })
    const { driver } = stranger
    await driver.drop([
      { name: 'large', content: 'x'.repeat(11) },
      { name: 'first', content: 'x' },
    ])
    await driver.reads('Larger than 10 bytes', '1 of 2 done · 1 failed')
    await driver.press('button', 'Dismiss in-large')
    await driver.reads('Your file has arrived safely')
    await driver.readsNot('Larger than', 'Send more files')
  })

  it('takes one file under the name that was chosen, by the keyboard alone', async () => {
    await using stranger = await opened('report.pdf')
    const { server, driver } = stranger
    await driver.reads('Send a file to anna', 'gets the name “report.pdf”')
    expect(await driver.axe()).to.deep.equal([])
    await driver.drop([
      { name: 'x', content: 'x' },
      { name: 'y', content: 'y' },
    ])
    await driver.reads('Choose a single one')
    await fitsPhone(driver)
    const [chooser] = await Promise.all([
      driver.page.waitForFileChooser(),
      (async () => {
        await driver.page.focus('.chooser .button')
        await driver.page.keyboard.press('Enter')
      })(),
    ])
    await chooser.accept([import.meta.filename])
    await driver.reads('Your file has arrived safely')
    await driver.readsNot('Choose a file')
    expect(await server.content('report.pdf')).to.include('by the keyboard alone')
    expect(await driver.axe()).to.deep.equal([])
    await driver.page.reload()
    await ready(driver)
    await driver.reads('This link accepts no more files', 'has been sent by this link already')
    await driver.readsNot('Choose a file')
    expect(await driver.axe()).to.deep.equal([])
  })

  once('says that it is used up where it is used meanwhile', async () => {
    await using stranger = await opened('report.pdf')
    const { driver, url } = stranger
    await driver.reads('Choose a file')
    expect((await fetch(url, { method: 'PUT', body: 'x' })).status).to.equal(200)
    await driver.drop([{ name: 'z', content: 'z' }])
    await driver.reads('A file has been sent by this link already')
  })

  const film = { name: 'any.bin', content: 'y', times: 17 * mebibyte }

  for (const [after, goOn] of [
    [
      'where the line has broken',
      async ({ reads }: PageDriver, line: Line) => {
        line.cut()
        await reads('The connection broke. Trying again.')
        line.mend()
      },
    ],
    [
      'after a reload, when the file is chosen again',
      async ({ page, reads, drop }: PageDriver, line: Line) => {
        // The browser asks whether to leave.
        page.on('dialog', (dialog) => void dialog.accept())
        await page.reload()
        line.cut()
        line.mend()
        await reads('film.bin', 'choose or drop this file again')
        await drop([film])
      },
    ],
  ] as const) {
    it(`sends a large file in pieces, and goes on ${after}`, async () => {
      await using line = await startLine()
      await using server = await runPage()
      line.lead(Number(new URL(server.url).port))
      const link = new URL(await server.uploadLink('film.bin'))
      const address = new URL(link.pathname + link.search, line.url).href
      const driver = await openDriver(browser(), address)
      await ready(driver)
      line.holdAfter(4 * mebibyte)
      await driver.drop([film])
      await line.held()
      await goOn(driver, line)
      await driver.reads('Your file has arrived safely')
      expect((await server.content('film.bin'))?.length).to.equal(film.times)
      expect(server.asked.filter((each) => each === 'POST /resumable')).to.have.length(1)
      expect(line.passed()).to.be.below(film.times + 4 * mebibyte)
      expect(await driver.page.evaluate(() => sessionStorage.length)).to.equal(0)
      expect(driver.complaints).to.deep.equal([])
    })
  }

  once('that is wrong opens a page that says so', async () => {
    await using stranger = await opened('a')
    const { page, reads, axe } = stranger.driver
    await page.goto(`${stranger.url}0`)
    await reads('This link does not work', 'ask for a new one')
    expect(await axe()).to.deep.equal([])
  })

  it('to a file that is wrong, or whose file is gone, opens a page that says so', async () => {
    await using server = await runPage()
    await server.put('report.pdf', 'x')
    const url = await server.fileLink('report.pdf')
    const driver = await openDriver(browser(), `${url}0`)
    await driver.reads('This link does not work', 'ask for a new one')
    expect(await driver.axe()).to.deep.equal([])
    await server.remove('report.pdf')
    await driver.page.goto(url)
    await driver.reads('The file is not there any more', 'Ask whoever gave you the link')
    expect(await driver.page.title()).to.equal('The file is not there any more – holdfast')
    expect(await driver.axe()).to.deep.equal([])
  })

  it('to a file is made in a dialog, and opens a page with its preview, from which it is saved', async () => {
    await using server = await runPage()
    const name = '<img src=x onerror=alert(1)>&".txt'
    await server.put(name, '<b>for a friend</b>')
    const driver = await openDriver(browser(), server.url)
    await driver.signIn()
    await driver.press('button', 'Make a link')
    await driver.reads('there is no list of them', 'End all links')
    await driver.click('dialog [type=submit]')
    await driver.reads('Valid until')
    const url = await driver.value('Address of the link')
    const stranger = await openDriver(browser(), url)
    await stranger.sees('h1', name)
    await stranger.reads('anna gives you this file', '19 bytes', '<b>for a friend</b>')
    expect(await stranger.axe()).to.deep.equal([])
    await fitsPhone(stranger)
    const href = await stranger.page.$eval(
      '.linked-save',
      (each) => (each as HTMLAnchorElement).href,
    )
    expect(`${href}&page=1`).to.equal(url)
    expect(await (await fetch(href)).text()).to.equal('<b>for a friend</b>')
    // A program that gets the address of the page gets the file.
    expect(await (await fetch(url)).text()).to.equal('<b>for a friend</b>')
    await driver.click('.links-note button')
    await driver.sees('dialog', 'End all links that you have made?')
    await driver.readsNot('Address of the link', 'Valid until')
    await driver.click('dialog .button-danger')
    await driver.sees('.notices', 'All links are ended')
    await stranger.page.reload()
    await stranger.reads('This link does not work')
    expect([...driver.complaints, ...stranger.complaints]).to.deep.equal([])
  })

  once('that ends meanwhile takes nothing more, and the page says so', async () => {
    await using stranger = await opened('in-', { prefix: true, expiresIn: 60 })
    const { driver } = stranger
    await driver.reads('Send files to anna')
    stranger.server.pass(62_000)
    await driver.drop([{ name: 'late', content: 'x' }])
    await driver.reads('The link is not valid any more. Ask for a new one.')
    expect(await stranger.server.names()).to.deep.equal([])
  })

  it('is made by its customer in a dialog, which says what it allows', async () => {
    await using server = await runPage()
    const driver = await openDriver(browser(), server.url)
    const { page, press, fill, reads, axe } = driver
    await driver.signIn()
    await press('button', 'Ask for files')
    await fill('Their names here begin with', 'für mich: ')
    await fill('Number of files, at most', '0')
    await press('button', 'Make the link')
    await reads('The number of files must be from 1 to 10,000')
    await fill('Number of files, at most', '7')
    await page.select('dialog select', '10000000')
    await press('button', 'Make the link')
    await reads('This link allows', 'Up to 7 files', 'begin with “für mich: ”', 'Each up to 10 MB')
    const url = await driver.value('Address of the link')
    await fitsPhone(driver)
    expect(await axe()).to.deep.equal([])
    const stranger = await openDriver(browser(), url)
    await ready(stranger)
    await stranger.reads('Send files to anna', 'Up to 7 files', 'up to 10 MB')
    await stranger.drop([{ name: '"><b>&.txt', content: 'x' }])
    await stranger.reads('Your file has arrived safely')
    expect(await server.names()).to.deep.equal(['für mich: "><b>&.txt'])
    expect([...driver.complaints, ...stranger.complaints]).to.deep.equal([])
  })

  it('to one name is made where that is free, by the keyboard', async () => {
    await using server = await runPage()
    await server.put('taken.txt', 'x')
    const driver = await openDriver(browser(), server.url)
    const { page, press, fill, reads } = driver
    await driver.signIn()
    await press('button', 'Ask for files')
    // It takes the focus when it opens.
    await page.waitForSelector('dialog[open]')
    await page.focus('dialog [name=kind]')
    await page.keyboard.press('ArrowRight')
    await fill('Its name here', 'taken.txt')
    await page.keyboard.press('Enter')
    await reads('You have a file of this name already')
    await fill('Its name here', 'free.txt')
    await page.keyboard.press('Enter')
    await reads('One file, which gets the name “free.txt”')
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog', { hidden: true })
    expect(driver.complaints).to.deep.equal([])
  })
})

const watched = (browser: () => OpenBrowser) => {
  it('gets to no other origin, and into nothing that the browser keeps', async () => {
    await using stranger = await openLink(browser(), 'in-', { prefix: true })
    const { page, drop, reads } = stranger.driver
    const policy = await page.evaluate(async () => {
      const answer = await fetch(location.href, { headers: { Accept: 'text/html' } })
      return [answer.headers.get('Referrer-Policy'), answer.headers.get('Content-Security-Policy')]
    })
    expect(policy[0]).to.equal('no-referrer')
    expect(policy[1])
      .to.include("default-src 'none'")
      .and.not.match(/https?:|\*/)
    const requests: string[] = []
    page.on('request', (request) =>
      requests.push(request.url(), request.headers()['referer'] ?? ''),
    )
    await drop([{ name: 'a', content: 'a' }])
    await reads('Your file has arrived safely')
    const own = new URL(stranger.url).origin
    expect(requests.filter((each) => each !== '' && !each.startsWith(own))).to.deep.equal([])
    expect(await page.evaluate(() => localStorage.length + sessionStorage.length)).to.equal(0)
  })
}

describeInBrowsers('A link to upload, watched,', watched, {
  names: ['chromium'],
  watchesNetwork: true,
})
