import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { openDocumentedServer, type DocumentedServer } from './documented-server.ts'
import { documentedSteps, fencedBlocks, stableOutput } from './documented-steps.ts'

const run = promisify(execFile)
const origin = 'http://127.0.0.1:3000'
const passwordLine = "PASSWORD='the password that scripts/start printed'"

const documents = [
  { path: 'README.md', commandsAtLeast: 10 },
  { path: 'docs/api.md', commandsAtLeast: 40 },
]

for (const { path, commandsAtLeast } of documents) {
  describe(`The commands in ${path}`, () => {
    const markdown = readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
    const steps = documentedSteps(markdown, (script) => /^(curl|PASSWORD=)/m.test(script))
    let server: DocumentedServer
    before(async () => {
      server = await openDocumentedServer()
    })
    after(() => server.close())

    it('are found, with the line that takes the password', () => {
      const curls = steps.flatMap(({ script }) => script.match(/^curl /gm) ?? [])
      expect(curls.length).to.be.at.least(commandsAtLeast)
      expect(steps.filter(({ script }) => script.includes(passwordLine))).to.have.length(1)
      const allCurls = fencedBlocks(markdown, 'sh').flatMap((text) => text.match(/^curl /gm) ?? [])
      expect(curls).to.have.length(allCurls.length)
    })

    // One after the other on one server, as a reader would paste them.
    for (const { line, script, expected } of steps) {
      it(`do what line ${line} says: ${script.split('\n')[0] ?? ''}`, async () => {
        const actual = script
          .replaceAll(origin, server.origin)
          .replace(passwordLine, `PASSWORD='${server.password}'`)
        const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', actual], {
          cwd: server.directory,
        })
        if (expected === undefined) return
        expect(stableOutput(stdout.replaceAll(server.origin, origin))).to.equal(
          stableOutput(expected),
        )
      })
    }
  })
}
