import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { tourText, type Tour } from '../tour-text.ts'

const tour: Tour = {
  address: { address: '127.0.0.1', family: 'IPv4', port: 3000 },
  command: 'scripts/start',
  password: 's3cret',
  file: 'README.md',
}

/** The words that a shell makes of each line that starts with curl. */
function curlWords(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('curl '))
  return lines.map((line) =>
    execFileSync('bash', ['-c', line.replace('curl', String.raw`printf '%s\n'`)], {
      encoding: 'utf8',
      env: { ...process.env, PASSWORD: 'typed by hand' },
    })
      .trimEnd()
      .split('\n'),
  )
}

describe('tourText', () => {
  it('uploads, lists, serves and deletes, each in one line that starts with curl', () => {
    const customer = ['-H', 'x-auth-name: demo', '-H', 'x-auth-password: s3cret']
    expect(curlWords(tourText(tour))).to.deep.equal([
      [...customer, '-F', 'file=@README.md', 'http://127.0.0.1:3000/upload'],
      [...customer, 'http://127.0.0.1:3000/list'],
      [...customer, 'http://127.0.0.1:3000/serve/README.md'],
      [...customer, '-X', 'DELETE', 'http://127.0.0.1:3000/delete/README.md'],
    ])
  })

  it('takes an unknown password from the variable PASSWORD and says how to get a new one', () => {
    const text = tourText({ ...tour, password: undefined })
    for (const words of curlWords(text)) expect(words).to.include('x-auth-password: typed by hand')
    expect(text).to.include("\nPASSWORD='the password of the customer demo'\n")
    expect(text).to.include('scripts/start customers rotate demo')
  })

  it('quotes a path for the shell and for curl', () => {
    const [upload, , serve] = curlWords(tourText({ ...tour, file: "/it's, here/a b;c.md" }))
    expect(upload).to.include('file=@"/it\'s, here/a b;c.md"')
    expect(serve).to.include('http://127.0.0.1:3000/serve/a%20b%3Bc.md')
  })

  it('reaches a server on all interfaces by the loopback address', () => {
    const all = tourText({ ...tour, address: { address: '0.0.0.0', family: 'IPv4', port: 80 } })
    expect(curlWords(all)[1]).to.include('http://127.0.0.1:80/list')
    const six = tourText({ ...tour, address: { address: '::', family: 'IPv6', port: 80 } })
    expect(curlWords(six)[1]).to.include('http://[::1]:80/list')
  })

  it('names the command as it was called', () => {
    expect(tourText({ ...tour, command: '/my code/scripts/start' })).to.include(
      "'/my code/scripts/start' customers rotate demo",
    )
  })
})
