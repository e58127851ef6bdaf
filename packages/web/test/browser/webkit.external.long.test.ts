import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { hostilePdf } from './hostile-pdf.ts'
import { runPage } from './running-page.ts'
import { openWebkit } from './webkit-driver.ts'

describe('A PDF that a link shows in WebKit', function () {
  this.timeout(180_000)

  it('is shown, and its scripts run where they reach nothing of the server', async () => {
    await using server = await runPage()
    await using webkit = await openWebkit()
    // While a dialog is open, no command of WebDriver that runs a script is answered.
    await server.put('hostile.pdf', hostilePdf({ text: 'Hello WebKit', opensDialog: false }))
    await webkit.open(await server.fileLink('hostile.pdf', { inline: true }))
    const text = () =>
      webkit
        .run('return document.querySelector(".textLayer")?.textContent', 'frame')
        .catch(() => '')
    await until('the viewer shows the text', async () => (await text()) === 'Hello WebKit')
    // What the viewer is loaded from, in which the scripts run, too.
    const viewer = await webkit.run('return document.URL', 'frame')
    expect(viewer).to.be.a('string').that.does.not.match(/^http/)
    expect(server.asked.filter((each) => each.includes('/run'))).to.deep.equal([])
  })

  it('is no page, whatever is in it', async () => {
    await using server = await runPage()
    await using webkit = await openWebkit()
    await server.put('page.pdf', '<!doctype html><title>run</title><script>fetch("/run")</script>')
    await webkit.open(await server.fileLink('page.pdf', { inline: true }))
    expect(await webkit.run('return document.title')).to.not.equal('run')
    expect(server.asked.filter((each) => each.includes('/run'))).to.deep.equal([])
  })
})
