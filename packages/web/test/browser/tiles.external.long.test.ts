import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

const drawing = (inner: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><rect width="600" height="400" fill="teal"/>${inner}</svg>`
/** It claims to have 60,000 by 60,000 pixels. */
const huge = Buffer.from(
  '89504e470d0a1a0a0000000d494844520000ea600000ea600800000000d3a9bd6d0000000049454e44ae426082',
  'hex',
)

describeInBrowsers('The page shows tiles', (browser, _, once) => {
  async function open(files: Readonly<Record<string, string | Uint8Array>>) {
    const server = await runPage()
    for (const [name, content] of Object.entries(files)) await server.put(name, content)
    const driver = await openDriver(browser(), server.url)
    await driver.signIn()
    await driver.page.waitForSelector('.rows .row')
    await driver.press('button', 'View')
    await driver.page.waitForSelector('#view-menu:popover-open')
    await driver.click('[name=view]:not(:checked)')
    await driver.page.waitForSelector('.tile')
    await driver.page.keyboard.press('Escape')
    return { server, driver, [Symbol.asyncDispose]: () => endVisit(driver, server) }
  }
  it('with thumbnails of images, which run nothing, by mouse and by keys, and remembers that', async () => {
    await using opened = await open({
      'a - b.txt': 'b',
      'broken.png': 'no image',
      'drawing.svg': drawing('<script>window.attacked = true</script>'),
      'huge.png': huge,
      'notes.txt': 'notes',
    })
    const { driver, server } = opened
    const { page } = driver
    await page.waitForSelector('.tile img')
    const pictures = await page.$$eval('.tile:has(img) .tile-open', (all) =>
      all.map(({ ariaLabel }) => ariaLabel),
    )
    expect(pictures).to.deep.equal(['Open drawing.svg'])
    expect(await page.$eval('.tile img', (image) => image.naturalWidth)).to.equal(320)
    expect(await page.evaluate(() => 'attacked' in window)).to.equal(false)
    expect(await driver.axe()).to.deep.equal([])
    await page.focus('.tile-open[tabindex="0"]')
    await page.keyboard.press('End')
    const focused = () => page.evaluate(() => document.activeElement?.ariaLabel)
    await until('the last one has the focus', async () => (await focused()) === 'Open notes.txt')
    await page.keyboard.press('Delete')
    await driver.sees('.notices', 'Deleting “notes.txt”')
    await driver.press('button', 'Undo')
    await driver.click('[aria-label="Select drawing.svg"]')
    await driver.sees('.status', '1 selected')
    await driver.press('button', 'Clear the selection')
    await page.locator('[aria-label="Open notes.txt"]').click({ button: 'right' })
    await page.waitForSelector('.row-menu:popover-open')
    expect(await page.$eval('.row-menu', (menu) => menu.ariaLabel)).to.include('notes.txt')
    expect(await driver.axe()).to.deep.equal([])
    await page.keyboard.press('Escape')
    await driver.misses('.row-menu')
    await driver.press('button', 'Open drawing.svg')
    await page.waitForSelector('dialog img')
    await page.keyboard.press('Escape')
    await driver.press('button', 'Open the folder a')
    await driver.sees('.tile', 'b')
    await page.setViewport({ width: 360, height: 740 })
    await page.waitForFunction(() => innerWidth === 360)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(360)
    await page.goto(server.url)
    await driver.signIn()
    await page.waitForSelector('.tile')
    expect(driver.complaints).to.deep.equal([])
  })

  once('and downloads an image that cannot be decoded only once', async () => {
    const texts = Array.from({ length: 400 }, (_, index) => `${index + 100}.txt`)
    await using opened = await open({
      'broken.png': 'no image',
      ...Object.fromEntries(texts.map((name) => [name, 'a'])),
      'last.svg': drawing(''),
    })
    const { driver, server } = opened
    const { page } = driver
    await page.focus('.tile-open[tabindex="0"]')
    const counted = (name: string) =>
      server.asked.filter((each) => each === `GET /serve/${name}`).length
    for (let time = 0; time < 3; time++) {
      await page.keyboard.press('End')
      await page.waitForSelector('[aria-label="Open last.svg"] img')
      await page.keyboard.press('Home')
      await page.waitForSelector('[aria-label="Open broken.png"]', { hidden: true })
    }
    expect(['broken.png', 'last.svg'].map(counted)).to.deep.equal([1, 1])
  })

  it('and a key that deletes leads to the neighbour, never to the first one', async () => {
    await using opened = await open({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c', 'd.txt': 'd' })
    const { page } = opened.driver
    const focused = () => page.evaluate(() => document.activeElement?.ariaLabel)
    await page.focus('.tile-open[tabindex="0"]')
    await page.keyboard.press('End')
    await until('the last one has the focus', async () => (await focused()) === 'Open d.txt')
    await page.keyboard.press('b')
    await until('the letter leads to its file', async () => (await focused()) === 'Open b.txt')
    await page.keyboard.press('End')
    await until('the last one has the focus', async () => (await focused()) === 'Open d.txt')
    await page.keyboard.press('ArrowLeft')
    await until('its neighbour has the focus', async () => (await focused()) === 'Open c.txt')
    await page.keyboard.press('Delete')
    await until('the next one has the focus', async () => (await focused()) === 'Open d.txt')
    await page.keyboard.press('Delete')
    await until('the one before has the focus', async () => (await focused()) === 'Open b.txt')
    const left = await page.$$eval('.tile-open', (all) => all.map(({ ariaLabel }) => ariaLabel))
    expect(left).to.deep.equal(['Open a.txt', 'Open b.txt'])
  })
})
