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

describe('The page in WebKit', function () {
  this.timeout(180_000)

  it('signs in, lists, filters, shows a file, takes one, deletes it and undoes that', async () => {
    await using server = await runPage()
    await server.put('notes.txt', 'Holding fast')
    await server.put('photos - sea.jpg', 'no picture')
    await using webkit = await openWebkit()
    const run = (script: string) => webkit.run(script)
    const shown = async () => String(await run('return document.body.innerText'))
    const reads = (text: string) =>
      until(`the page shows ${text}`, async () => (await shown()).includes(text))
    /** Runs `use` with the element, as soon as there is one. */
    const withElement = (selector: string, use: string) =>
      until(`there is ${selector}`, async () => {
        const script = `const found = document.querySelector(${JSON.stringify(selector)})
          if (found) { ${use} }
          return found !== null`
        return (await run(script)) === true
      })
    const click = (label: string) => withElement(`[aria-label="${label}"]`, 'found.click()')
    const fill = (selector: string, text: string) =>
      withElement(
        selector,
        `found.value = ${JSON.stringify(text)}
         found.dispatchEvent(new Event('input', { bubbles: true }))`,
      )

    await webkit.open(server.url)
    await run(
      'window.complaints = []; addEventListener("error", (event) => complaints.push(event.message))',
    )
    await fill('[name=username]', 'anna')
    await fill('[name=password]', 'sesame')
    await withElement('[name=password]', 'found.form.requestSubmit()')
    await reads('1 folder')
    await fill('[aria-label="Filter by name"]', 'note*')
    await reads('1 of 2')
    await click('Open notes.txt')
    await reads('Holding fast')
    await click('Close')
    await click('Clear the filter')

    // A drop that a script makes has no files in WebKit, so the dialog's field takes one.
    await withElement(
      'input[type=file]:not([webkitdirectory])',
      `const transfer = new DataTransfer()
       transfer.items.add(new File(['from WebKit'], 'new.txt'))
       found.files = transfer.files
       found.dispatchEvent(new Event('change', { bubbles: true }))`,
    )
    await until('it is stored', async () => (await server.content('new.txt')) === 'from WebKit')
    await reads('3 files')
    await click('Delete new.txt')
    await reads('Deleting “new.txt”')
    await withElement('.notice-action', 'found.click()')
    await reads('3 files')
    expect(await server.content('new.txt')).to.equal('from WebKit')
    expect(await run('return document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0)
    expect(await run('return window.complaints')).to.deep.equal([])
  })
})
