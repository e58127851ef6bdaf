import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'

const module = JSON.stringify(join(import.meta.dirname, '../announce.ts'))

describe('announce', () => {
  it('shows what each job has said when it has ended, in one piece, and how it came out', () => {
    const script = `import { announce } from ${module}
      const [a, b] = [{ title: 'a' }, { title: 'b' }]
      const { onStart, onEnd, end } = announce(2)
      onStart(a)
      onStart(b)
      onEnd({ job: b, result: { output: '\\n\\nline\\n\\n', failures: [{}] }, seconds: 1.25 })
      onEnd({ job: a, result: { output: '', failures: [], processorSeconds: 1.5 }, seconds: 2 })
      end()`
    const args = ['--input-type=module', '--eval', script]
    const said = execFileSync(process.execPath, args, { encoding: 'utf8' })
    expect(said).to.equal(`
== b (1 of 2)
line
   FAILED (1.3 s)

== a (2 of 2)
   ok (2.0 s, 1.5 of processor)
`)
  })
})
