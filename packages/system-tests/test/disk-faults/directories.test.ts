import { chmod, mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { beginDownload, size, storeLarge } from './begin-download.ts'
import { countFailures, startFaultSite, type FaultSite } from './fault-site.ts'

/** The answers, in this order, to a download, a list, an upload in place of the file, and the deletion of one that is not there. */
type Answers = readonly [serve: string, list: string, upload: string, remove: string]

const fine: Answers = ['200 old', '200 ["kept"]', '200 OK', '400 File not found']
const gone = '503 Storage unavailable'
const fault = '500 An unexpected error occurred'
const unavailable: Answers = [gone, gone, gone, gone]
const broken: Answers = [fault, fault, fault, fault]

async function expectAnswers(site: FaultSite, title: string, expected: Answers): Promise<void> {
  const answers = [
    await site.ask('GET', '/serve/kept'),
    await site.ask('GET', '/list'),
    await site.ask('PUT', '/upload/kept', 'old'),
    await site.ask('DELETE', '/delete/missing'),
  ]
  expect(answers, title).to.deep.equal(expected)
}

interface Mishap {
  readonly title: string
  /** The directory that it happens to, below the data directory. */
  readonly path: string
  readonly answers: Answers
}

const removals: readonly Mishap[] = [
  { title: 'the data directory', path: '.', answers: unavailable },
  { title: 'the marker', path: 'holdfast.json', answers: ['200 old', gone, '200 OK', gone] },
  { title: 'all files', path: 'files', answers: unavailable },
  {
    title: 'a customer’s directory',
    path: 'files/demo',
    answers: ['400 File not found', '400 No files uploaded yet', '200 OK', '400 File not found'],
  },
  { title: 'temporary files', path: 'tmp', answers: fine },
]

const lostPermissions: readonly Mishap[] = [
  { title: 'the data directory', path: '.', answers: broken },
  { title: 'all files', path: 'files', answers: broken },
  { title: 'a customer’s directory', path: 'files/demo', answers: broken },
  {
    title: 'a file',
    path: 'files/demo/kept',
    answers: [fault, fine[1], fine[2], fine[3]],
  },
  {
    title: 'temporary files',
    path: 'tmp',
    answers: [fine[0], fine[1], fault, fine[3]],
  },
]

describe('holdfast serve, whose data directory is meddled with', () => {
  after(() =>
    console.log(`figures: real faults of directories: ${countFailures()} failed requests`),
  )

  it('answers as what was removed demands, and works when it is back', async () => {
    await using site = await startFaultSite()
    for (const { title, path, answers } of removals) {
      const [here, away] = [join(site.data, path), join(site.path, 'away')]
      await rename(here, away)
      await expectAnswers(site, title, answers)
      await rm(here, { recursive: true, force: true })
      await rename(away, here)
      await expectAnswers(site, title, fine)
      await site.expectCalm()
    }
  })

  it('answers 500 where permissions are lost, and works when they are back', async () => {
    await using site = await startFaultSite({ obeysPermissions: true })
    for (const { title, path, answers } of lostPermissions) {
      const mode = path.endsWith('kept') ? 0o640 : 0o750
      await chmod(join(site.data, path), 0)
      await expectAnswers(site, title, answers)
      await chmod(join(site.data, path), mode)
      await expectAnswers(site, title, fine)
      await site.expectCalm()
    }
  })

  it('takes links and directories for no files, and replaces no directory', async () => {
    await using site = await startFaultSite()
    const files = join(site.data, 'files/demo')
    await symlink('/etc/passwd', join(files, 'link'))
    await mkdir(join(files, 'directory'))
    for (const name of ['link', 'directory']) {
      expect(await site.ask('GET', `/serve/${name}`)).to.equal('400 File not found')
      expect(await site.ask('DELETE', `/delete/${name}`)).to.equal('400 File not found')
    }
    expect(await site.ask('GET', '/list')).to.equal('200 ["kept"]')
    expect(await site.ask('PUT', '/upload/directory', 'new')).to.equal(fault)
    expect(await site.ask('PUT', '/upload/link', 'new')).to.equal('200 OK')
    await site.expectCalm()
  })

  it('cuts a download whose file is cut short, and says why', async () => {
    await using site = await startFaultSite()
    await storeLarge(site)
    const download = await beginDownload(site)
    await truncate(join(site.data, 'files/demo/large'), 100_000)
    expect(await download.finish()).to.be.below(size)
    const isTold = () => site.server.output().includes('A file became shorter while it was read')
    await until('the log says why', isTold)
    expect(await site.ask('GET', '/serve/large')).to.equal(`200 ${'x'.repeat(100_000)}`)
    await site.expectCalm()
  })

  it('ends a download whose file is replaced or removed by hand, as it was', async () => {
    await using site = await startFaultSite()
    const [file, next] = [join(site.data, 'files/demo/large'), join(site.path, 'next')]
    await storeLarge(site)
    const downloads = [await beginDownload(site), await beginDownload(site)]
    await writeFile(next, 'y')
    await rename(next, file)
    expect(await site.ask('GET', '/serve/large')).to.equal('200 y')
    expect(await downloads[0]?.finish()).to.equal(size)
    await rm(file)
    expect(await downloads[1]?.finish()).to.equal(size)
    await site.expectCalm()
  })
})
