import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect } from 'chai'
import { browserNames, openBrowser } from '../../src/browsers.ts'
import { makeTemporaryDirectory } from '../../src/site.ts'

const html = '<title>Grüße</title><input type=file><p>one</p>'

for (const name of browserNames) {
  describe(`openBrowser('${name}')`, function () {
    this.timeout(240_000)
    let server: Server
    let url: string

    before(async () => {
      server = createServer((_, response) =>
        response.setHeader('Content-Type', 'text/html; charset=utf-8').end(html),
      )
      await once(server.listen(0, '127.0.0.1'), 'listening')
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    })
    after(() => {
      server.close()
      server.closeAllConnections()
    })

    it('shows a page, keeps what two pages store apart, and leaves no process and no profile', async () => {
      const opened = await openBrowser(name)
      const pid = opened.browser.process()?.pid ?? 0
      try {
        const environment = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0')
        expect(environment).to.include(`HOME=${opened.home}`)
        const [page, other] = [await opened.newPage(), await opened.newPage()]
        for (const each of [page, other]) await each.goto(url)
        expect(await page.title()).to.equal('Grüße')
        expect(await page.evaluate('document.querySelector("p").textContent')).to.equal('one')
        await page.evaluate('localStorage.setItem("a", "b")')
        expect(await page.evaluate('localStorage.getItem("a")')).to.equal('b')
        expect(await other.evaluate('localStorage.getItem("a")')).to.equal(null)
      } finally {
        await opened.close()
      }
      expect(existsSync(`/proc/${pid}`)).to.equal(false)
      expect(existsSync(opened.home)).to.equal(false)
    })

    it('opens where the path of temporary files is long', async () => {
      await using parent = await makeTemporaryDirectory()
      const before = process.env['TMPDIR']
      const long = join(parent.path, 'a'.repeat(60))
      await mkdir(long)
      process.env['TMPDIR'] = long
      try {
        await using opened = await openBrowser(name)
        const page = await opened.newPage()
        await page.goto(url)
        expect(await page.title()).to.equal('Grüße')
      } finally {
        if (before === undefined) delete process.env['TMPDIR']
        else process.env['TMPDIR'] = before
      }
    })
  })
}
