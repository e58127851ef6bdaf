import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { describeInBrowsers, reportUntested } from './describe-in-browsers.ts'
import { dropFromDisk } from './drop-from-disk.ts'
import { openDriver } from './page-driver.ts'
import { serveSite } from './served-site.ts'
import { signedIn, type SignedIn } from './signed-in.ts'

const mebibyte = 1024 * 1024

describeInBrowsers('An afternoon with the page', (browser, name) => {
  async function chooseFiles({ site, driver }: SignedIn, files: Readonly<Record<string, string>>) {
    const written = Object.entries(files).map(([file, content]) => site.write(file, content))
    await driver.choose('Upload', ...(await Promise.all(written)))
  }

  it('says that a password is wrong, and after many guesses that one has to wait', async () => {
    await using site = await serveSite()
    const { signIn, reads, complaints } = await openDriver(browser(), site.line.url)
    await signIn('a guess')
    await reads('Name or password is wrong')
    await until('the server lets no one guess on', async () => {
      const headers = { 'x-auth-name': 'anna', 'x-auth-password': 'another guess' }
      const guesses = Array.from({ length: 10 }, () => fetch(`${site.line.url}list`, { headers }))
      return (await Promise.all(guesses)).some(({ status }) => status === 429)
    })
    await signIn('one more guess')
    await reads('Too many failed attempts. Try again in')
    expect(complaints).to.deep.equal([])
  })

  if (name === 'firefox') {
    reportUntested(name, 'a folder', 'WebDriver BiDi can neither choose nor drop one')
  } else {
    it('uploads folders, by a dialog and by dropping them', async () => {
      await using opened = await signedIn(browser())
      const { site, driver } = opened
      const folder = join(site.path, 'photos')
      await mkdir(join(folder, '2026'), { recursive: true })
      await writeFile(join(folder, 'sea.txt'), 'the sea')
      await writeFile(join(folder, '2026', 'tide.txt'), 'the tide')
      await driver.choose('Choose a folder', folder)
      await driver.reads('All uploads are done', '2 files')
      const names = ['photos - 2026 - tide.txt', 'photos - sea.txt']
      expect(await site.names()).to.deep.equal(names)
      expect(await site.content('photos - 2026 - tide.txt')).to.equal('the tide')
      await site.ask('DELETE', `delete/${encodeURIComponent(names[0] ?? '')}`)
      await site.ask('DELETE', `delete/${encodeURIComponent(names[1] ?? '')}`)
      await dropFromDisk(driver.page, folder)
      await until('all is there', async () => (await site.names()).length === 2)
      expect(await site.names()).to.deep.equal(names)
    })
  }

  it('keeps both files, replaces one or skips one, and does the same for all others', async () => {
    await using opened = await signedIn(browser())
    const { site, driver } = opened
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `${letter}.txt`)
    for (const each of names) await site.ask('PUT', `upload/${each}`, 'old')
    await chooseFiles(opened, Object.fromEntries(names.map((each) => [each, 'new'])))
    const choices = ['Keep both', 'Replace', 'Skip', 'Keep both']
    const first: string[] = []
    for (const choice of choices) {
      const asked = await driver.conflict(first)
      first.push(asked)
      if (first.length === 4) await driver.tick('Do the same for')
      await driver.decide(choice)
    }
    await driver.reads('All uploads are done')
    const [both, replaced, skipped] = first
    const contents = await Promise.all(names.map((each) => site.content(each)))
    expect(contents.filter((content) => content === 'new')).to.have.length(1)
    expect(await site.content(replaced ?? '')).to.equal('new')
    const copies = names.filter((each) => each !== replaced && each !== skipped)
    expect(await site.names()).to.deep.equal(
      [...names, ...copies.map((each) => each.replace('.', ' (2).'))].sort(),
    )
    expect(copies).to.include(both)
  })

  it('runs nothing of hostile files, in a preview or by a link that shows them', async () => {
    await using opened = await signedIn(browser())
    const { site, driver } = opened
    const script = 'globalThis.ran=1;document.title="ran";fetch("/ran");alert(1)'
    await chooseFiles(opened, {
      'page.html': `<title>calm</title><p>shown</p><script>${script}</script><img src=/ran onerror='${script}'>`,
      'drawing.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40" onload='${script}'><script>${script}</script></svg>`,
      '<img src=x onerror=alert(1)>': 'text',
    })
    await driver.reads('All uploads are done', '3 files')
    const dialogs: string[] = []
    driver.page.on('dialog', (dialog) => void dialogs.push(dialog.message()))
    await driver.press('button', 'Open page.html')
    await driver.reads('<p>shown</p>')
    await driver.press('button', 'Next file')
    await driver.press('button', 'Previous file')
    await driver.page.waitForFunction(
      () => document.querySelector<HTMLImageElement>('dialog img')?.naturalWidth === 40,
    )
    for (const file of ['page.html', 'drawing.svg']) {
      const answer = await site.ask('POST', `link/${file}`, '{"inline":true}')
      const { headers } = await fetch(((await answer.json()) as { url: string }).url)
      expect(headers.get('content-disposition'), file).to.match(/^attachment/)
    }
    expect(await driver.page.evaluate(() => 'ran' in globalThis)).to.equal(false)
    expect(await driver.page.title()).to.equal('holdfast')
    expect(dialogs).to.deep.equal([])
    const paths = site.log().map(({ path }) => path)
    expect(paths).to.include('/serve/page.html').and.not.to.include('/ran')
  })

  it('deletes a file after the time to undo it, and gives a link to one that needs no password', async () => {
    await using opened = await signedIn(browser(), [
      { name: 'anna', password: 'sesame' },
      { name: 'bert', password: 'mellon' },
    ])
    const { site, driver } = opened
    await chooseFiles(opened, { 'kept.txt': 'for a friend', 'gone.txt': 'gone' })
    await driver.reads('All uploads are done', '2 files')
    await driver.press('button', 'Delete kept.txt')
    await driver.press('button', 'Undo')
    await driver.press('button', 'Delete gone.txt')
    await driver.reads('1 file')
    await until('it is gone', async () => (await site.names()).length === 1)

    await driver.press('button', 'Make a link')
    await driver.tick('Shows the file')
    await driver.press('button', 'Make the link')
    await driver.press('button', 'Copy')
    await driver.reads('Copied')
    await driver.press('button', 'Close')
    await driver.press('textbox', 'Filter by name')
    await driver.paste()
    const url = await driver.value('Filter by name')
    expect(url).to.match(new RegExp(`^${site.line.url}serve/kept\\.txt\\?`))
    const stranger = await browser().newPage()
    await stranger.goto(url)
    expect(await stranger.evaluate(() => document.body.innerText)).to.equal('for a friend')

    const bert = await openDriver(browser(), site.line.url)
    await bert.signIn('mellon', 'bert')
    await bert.reads('Nothing here yet')
    await bert.readsNot('kept.txt')
  })

  it('says that the quota is full, until that is dismissed', async () => {
    const customers = [{ name: 'anna', password: 'sesame', quota: '1MB' }]
    await using opened = await signedIn(browser(), customers)
    const { site, driver } = opened
    await chooseFiles(opened, {
      'small.txt': 'small',
      'large.txt': 'x'.repeat(12 * mebibyte),
      'larger.txt': 'x'.repeat(24 * mebibyte),
    })
    // The small file may be stored before the usage is asked for, or after it.
    await driver.reads(
      '1 of 3 done',
      '2 failed',
      'of 1 MB are used, uploads under way included, and this file needs 12.6 MB',
    )
    await driver.press('button', 'Dismiss large.txt')
    await driver.press('button', 'Dismiss larger.txt')
    await driver.reads('All uploads are done')
    await driver.sees('.quota', '5 bytes of 1 MB used')
    expect(await site.names()).to.deep.equal(['small.txt'])
  })
})
