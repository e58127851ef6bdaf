import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { endVisit } from './end-visit.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

const markdown = `# Voyage

A **good** day, with [a chart](https://charts.example/) and \`code\` &amp; more.

- [x] anchor
- [ ] sails

| Port | Miles |
| --- | ---: |
| Kiel | 12 |
`

const attack = 'window.attacked = true'
const hostile = `<script>${attack}</script>
<img src=x onerror="${attack}"> <svg onload="${attack}"></svg>
<iframe srcdoc="<script>parent.${attack}</script>"></iframe>

[click](javascript:${encodeURIComponent(attack)}) [data](data:text/html,<script>${attack}</script>)
[own](/delete/notes.md) ![pixel](/serve/pixel.png) <javascript:alert(1)>
[ref]: javascript:alert(1) "x"

| <b onclick="${attack}">head</b> |
| --- |
| <form action="/"><button>x</button></form> |

${'>'.repeat(200)} deep

\`\`\`"><script>${attack}</script>
${attack}
\`\`\`
`

describeInBrowsers('The page shows texts in their form', (browser) => {
  async function open(files: Readonly<Record<string, string>>) {
    const server = await runPage()
    for (const [name, content] of Object.entries(files)) await server.put(name, content)
    const driver = await openDriver(browser(), server.url)
    await driver.signIn()
    await driver.page.waitForSelector('.rows .row')
    return { server, driver, [Symbol.asyncDispose]: () => endVisit(driver, server) }
  }

  it('Markdown with its headings, lists and tables, and its source', async () => {
    await using opened = await open({ 'notes.md': markdown })
    const { driver } = opened
    await driver.press('button', 'Open notes.md')
    await driver.sees('.markdown h3', 'Voyage')
    await driver.sees('.markdown p', 'A good day, with a chart and code & more.')
    await driver.sees('.markdown td.align-right', '12')
    await driver.sees('.markdown li', '☑ anchor')
    const link = await driver.page.$eval('.markdown a', ({ href, target, rel }) => [
      href,
      target,
      rel,
    ])
    expect(link).to.deep.equal(['https://charts.example/', '_blank', 'noopener noreferrer'])
    expect(await driver.axe()).to.deep.equal([])
    await driver.press('button', 'Show the source')
    await driver.sees('.preview-text pre', '# Voyage')
    expect(driver.complaints).to.deep.equal([])
  })

  it('tables of spreadsheets', async () => {
    await using opened = await open({ 'crew.csv': 'Name;Since\n"Anna; B";2019\nJan;2021\n' })
    const { driver } = opened
    await driver.press('button', 'Open crew.csv')
    await driver.sees('.csv th', 'Since')
    await driver.sees('.csv td', 'Anna; B')
    expect(await driver.axe()).to.deep.equal([])
    expect(driver.complaints).to.deep.equal([])
  })

  it('and runs, loads and submits nothing of hostile ones, whatever their names are', async () => {
    const name = `<img src=x onerror='${attack}'>.md`
    const table = `<script>${attack}<\/script>,=cmd|' /C calc'!A0\n<img src=x onerror="${attack}">,2\n`
    await using opened = await open({ [name]: hostile, [`${name}.csv`]: table })
    const { driver, server } = opened
    const { page } = driver
    await driver.press('button', `Open ${name}`)
    await driver.sees('.markdown', 'click')
    await driver.sees('.markdown', '<script>')
    const found = await page.$eval('.markdown', (root) => ({
      elements: root.querySelectorAll('script, img, svg, iframe, form, button, object, style')
        .length,
      links: root.querySelectorAll('a').length,
      handlers: [...root.querySelectorAll('*')].filter((each) =>
        each.getAttributeNames().some((attribute) => attribute.startsWith('on')),
      ).length,
    }))
    expect(found).to.deep.equal({ elements: 0, links: 0, handlers: 0 })
    await driver.press('button', 'Next file')
    await driver.sees('.csv th', '<script>')
    await driver.sees('.csv td', '<img')
    expect(await page.$$eval('.csv :is(script, img)', (all) => all.length)).to.equal(0)
    expect(await page.evaluate(() => 'attacked' in window)).to.equal(false)
    expect(server.asked.filter((each) => /pixel|delete/.test(each))).to.deep.equal([])
    expect(driver.complaints).to.deep.equal([])
  })

  it('and the details of a file with its digest, beside its preview, also on a phone', async () => {
    await using opened = await open({ 'notes - crew.csv': 'a,b' })
    const { driver } = opened
    const { page } = driver
    await driver.click('.row-folder .name')
    await driver.press('button', 'Open notes - crew.csv')
    await driver.press('button', 'Details')
    await driver.reads('notes - crew.csv', 'Folder', 'text/csv', 'ETag', 'Make a link')
    await driver.press('button', 'Compute')
    await driver.sees(
      '.details code',
      '1eb7c54d52831bbfe8942af0b1c56b7409523a59ed6ca99c1174fef7eb32c1b5',
    )
    expect(await driver.axe()).to.deep.equal([])
    await page.setViewport({ width: 360, height: 740 })
    await page.waitForFunction(() => innerWidth === 360)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(360)
    expect(await driver.axe()).to.deep.equal([])
    expect(driver.complaints).to.deep.equal([])
  })
})
