import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

/** A folder of pictures for looking at what the tests see; none by default. */
const { PICTURES: pictures } = process.env

describeInBrowsers('The page', (browser, browserName, once) => {
  async function open() {
    const server = await runPage()
    const long = `${'a very long name that goes on '.repeat(5)}.txt`
    for (const name of ['notes.txt', 'photos - sea.jpg', long]) await server.put(name, name)
    const driver = await openDriver(browser(), server.url)
    return { driver, [Symbol.asyncDispose]: () => endVisit(driver, server) }
  }
  type Page = Awaited<ReturnType<typeof open>>['driver']['page']

  const picture = async (page: Page, name: string) => {
    if (pictures !== undefined) {
      await page.screenshot({ path: `${pictures}/${browserName}-${name}.png` })
    }
  }

  /** By how many pixels the page is wider than the window. */
  const overflow = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

  /** The buttons and fields in sight that another element covers, or that are cut off at the window's edge. */
  const covered = (page: Page) =>
    page.evaluate(() => {
      const controls = [...document.querySelectorAll<HTMLElement>('button, input, select, summary')]
      return controls
        .filter((each) => each.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        .filter((each) => {
          const { x, y, width, height } = each.getBoundingClientRect()
          if (width < 2 || height < 2 || y + height > innerHeight || y < 0) return false
          if (x < -1 || x + width > innerWidth + 1) return true
          const top = document.elementFromPoint(x + width / 2, y + height / 2)
          return (
            top === null ||
            !(each.contains(top) || top.contains(each) || top.closest('label')?.contains(each))
          )
        })
        .map((each) => each.ariaLabel ?? each.textContent)
    })

  it('is in French and in Spanish for who chooses that, also after it was loaded anew', async () => {
    await using opened = await open()
    const { page, signIn, sees } = opened.driver
    for (const [tag, label, signInText, status] of [
      ['fr', 'Mot de passe', 'Se connecter', '3 fichiers'],
      ['es', 'Contraseña', 'Iniciar sesión', '3 archivos'],
    ] as const) {
      await page.waitForSelector('.preferences select')
      await page.select('.preferences select', tag)
      await sees('form', label)
      await sees('form', signInText)
      expect(await page.evaluate(() => document.documentElement.lang)).to.equal(tag)
      await picture(page, `sign-in-${tag}`)
      await page.reload()
      await sees('form', label)
      await signIn()
      await sees('.status', status)
      await picture(page, `list-${tag}`)
      expect(await overflow(page)).to.be.at.most(0)
      await page.evaluate(() => sessionStorage.clear())
      await page.reload()
    }
  })

  for (const [width, height] of [
    [360, 640],
    [1280, 800],
  ] as const) {
    it(`can be turned round for a script from right to left, ${width} pixels wide`, async () => {
      await using opened = await open()
      const { page, signIn, sees } = opened.driver
      await page.setViewport({ width, height })
      await signIn()
      await sees('.status', '3 files')
      const sides = () =>
        page.evaluate(() => {
          const middle = (selector: string) => {
            const { x = 0, width: size = 0 } =
              document.querySelector(selector)?.getBoundingClientRect() ?? {}
            return x + size / 2 - innerWidth / 2
          }
          return { name: middle('.rows .row .kind'), size: middle('.rows .cell-size') }
        })
      const before = await sides()
      await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
      await picture(page, `rtl-${width}`)
      expect(await overflow(page)).to.be.at.most(0)
      expect(await covered(page)).to.deep.equal([])
      const after = await sides()
      expect(after.name).to.be.closeTo(-before.name, 20)
      if (width > 1000) expect(after.size).to.be.closeTo(-before.size, 20)
    })
  }

  it('shows all of itself at 200 % of a window of 1280 pixels, and at 400 %', async () => {
    await using opened = await open()
    const { page, signIn, sees, press } = opened.driver
    await signIn()
    await sees('.status', '3 files')
    // The browser's zoom makes pixels of CSS larger, so that fewer fit.
    for (const factor of [2, 4]) {
      const width = 1280 / factor
      await page.setViewport({ width, height: 800 / factor, deviceScaleFactor: factor })
      await page.waitForFunction(
        (wanted) =>
          innerWidth === wanted && new Promise((done) => requestAnimationFrame(() => done(true))),
        {},
        width,
      )
      expect(await overflow(page)).to.be.at.most(0)
      expect(await covered(page)).to.deep.equal([])
      await picture(page, `zoom-${factor}`)
      // However low the window is, a turn of the wheel brings rows into it.
      await page.mouse.move(width / 2, 20)
      await page.mouse.wheel({ deltaY: 1000 })
      await page.waitForFunction(() => {
        const { top = 0, bottom = 0 } =
          document.querySelector('.rows .row')?.getBoundingClientRect() ?? {}
        return top > 0 && bottom > top && bottom <= innerHeight
      })
      await page.mouse.wheel({ deltaY: -1000 })
      await page.waitForFunction(() => scrollY === 0)
    }
    await press('button', 'Upload')
  })

  if (browserName === 'chromium') {
    once('shows what is selected where the system sets the colours', async () => {
      await using opened = await open()
      const { page, signIn, sees, click, axe } = opened.driver
      const session = await page.createCDPSession()
      const features = [{ name: 'forced-colors', value: 'active' }]
      await session.send('Emulation.setEmulatedMedia', { features })
      await signIn()
      await sees('.status', '3 files')
      await click('[aria-label="Select notes.txt"]')
      await sees('.status', '1 selected')
      await picture(page, 'forced-colors')
      const outlineOf = (selector: string) =>
        page.$eval(selector, (row) => getComputedStyle(row).outlineStyle)
      expect(await outlineOf('.row[aria-selected=true]')).to.equal('solid')
      expect(await outlineOf('.row[aria-selected=false]')).to.equal('none')
      const borders = await page.$$eval('main .button', (all) =>
        all.map((each) => getComputedStyle(each).borderStyle),
      )
      expect(new Set(borders)).to.deep.equal(new Set(['solid']))
      expect(await axe()).to.deep.equal([])
    })
  }
})
