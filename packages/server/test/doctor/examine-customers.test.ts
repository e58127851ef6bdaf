import { chmod } from 'node:fs/promises'
import { hashPassword } from '@holdfast/passwords'
import { createSite, type Site } from '@holdfast/testing'
import { expect } from 'chai'
import { examineCustomers } from '../../src/doctor/examine.ts'

describe('examineCustomers', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const examine = async (text: string) => {
    const path = await site.write('c.yaml', text)
    const { findings, promisedBytes } = await examineCustomers(path)
    const told = findings.map(({ mark, message, remedies }) =>
      [
        mark,
        message.replaceAll(path, 'c.yaml'),
        ...remedies.map((each) => each.replaceAll(path, 'c.yaml')),
      ].join(' | '),
    )
    return { told, promisedBytes }
  }

  it('counts customers, and adds up what they may keep', async () => {
    const password = await hashPassword('secret')
    const customers = ['a', 'b', 'c'].map(
      (name) => `  - { name: ${name}, password: "${password}", quota: 1GB }`,
    )
    customers.push(`  - { name: d, password: "${password}" }`)
    expect(await examine(['customers:', ...customers].join('\n'))).to.deep.equal({
      told: ['ok | c.yaml: 4 customer(s), 3 of them with a quota'],
      promisedBytes: 3e9,
    })
  })

  it('says when no one can log in', async () => {
    const { told } = await examine('customers: []')
    expect(told).to.deep.equal([
      'warning | c.yaml has no customers; no one can log in | holdfast customers add NAME',
    ])
  })

  it('warns of passwords in plain text, and of a file that all may read', async () => {
    const path = await site.write('c.yaml', 'customers: [{ name: a, password: secret }]')
    await chmod(path, 0o644)
    const { findings } = await examineCustomers(path)
    expect(findings.map(({ mark }) => mark)).to.deep.equal(['ok', 'warning', 'warning'])
    expect(findings[1]?.message).to.match(/the password stands in plain text for "a"$/)
    expect(findings[1]?.remedies).to.deep.equal([
      'replace each with: holdfast customers rotate NAME',
    ])
    expect(findings[2]?.remedies).to.deep.equal([`run: chmod o= ${path}`])
    expect(JSON.stringify(findings)).not.to.include('secret')
  })

  it('says what is wrong with each customer', async () => {
    const { told, promisedBytes } = await examine(
      'customers: [{ name: a }, { name: .., password: x }]',
    )
    expect(told).to.have.length(1)
    expect(told[0]).to.match(/^problem \| c\.yaml/)
    expect(promisedBytes).to.equal(0)
  })

  it('reports a file that is missing', async () => {
    const { findings } = await examineCustomers(`${site.path}/none.yaml`)
    expect(findings).to.have.length(1)
    expect(findings[0]?.mark).to.equal('problem')
    expect(findings[0]?.message).to.match(/none\.yaml: does not exist$/)
    expect(findings[0]?.remedies.join()).to.include('holdfast customers add NAME')
  })

  it('does not take the path apart, whatever it has in it', async () => {
    const path = `${site.path}/a; b. C.yaml`
    const { findings } = await examineCustomers(path)
    expect(findings[0]?.message).to.equal(`${path}: does not exist`)
    expect(findings[0]?.remedies).to.have.length(1)
  })
})
