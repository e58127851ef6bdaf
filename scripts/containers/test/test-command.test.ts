import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { makeMachine, type Machine } from './machine.ts'

const docker = `case $1 in
  info) [[ -e $NOTES/engine ]] ;;
  image) [[ -e $NOTES/image ]] ;;
  context) echo unix:///of-the-context.sock ;;
  build) echo "$@" >$NOTES/build; cat "\${!#}/Dockerfile" >$NOTES/dockerfile; [[ ! -e $NOTES/broken ]] ;;
esac`
const dockerd = 'echo "$@" >$NOTES/dockerd; echo $$ >$NOTES/pid; >$NOTES/engine; exec sleep 60'
const oneMinute = 60_000

/** Waits until `condition` holds; rejects after half a minute. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Waited in vain until ${String(condition)}`)
    await setTimeout(50)
  }
}

describe('scripts/test', function () {
  this.timeout(2 * oneMinute)
  let machine: Machine

  async function begin(...notes: string[]): Promise<void> {
    machine = await makeMachine()
    await machine.install('docker', docker)
    await machine.install('dockerd', dockerd)
    for (const note of notes) await machine.leaveNote(note)
  }

  afterEach(() => machine.remove())

  describe('where an engine answers', () => {
    it('takes it and passes its name to the tests, and ends as the checks end', async () => {
      await begin('engine', 'image')
      const CHECKS = 'echo $DOCKER_HOST; echo 2 passed, 1 failed; exit 7'
      const outcome = await machine.start([], { CHECKS }).outcome
      const stdout = 'unix:///of-the-context.sock\n2 passed, 1 failed\n'
      expect(outcome).to.deep.equal({ code: 7, stdout, stderr: '' })
      expect(await machine.note('dockerd')).to.equal('')
    })

    it('ends as the checks end, also when they end before it waits for them', async () => {
      await begin('engine', 'image')
      // A shell that has other things to do, as on a busy machine.
      const slowly = { 'BASH_FUNC_trap%%': '() { sleep 0.3; builtin trap "$@"; }' }
      const { code } = await machine.start([], { CHECKS: 'exit 1', ...slowly }).outcome
      expect(code).to.equal(1)
    })

    it('hands arguments on', async () => {
      await begin('engine', 'image')
      const CHECKS = `printf '%s|' "$@"`
      const { stdout } = await machine.start(['--grep', 'two words'], { CHECKS }).outcome
      expect(stdout).to.match(/run-checks\.ts\|--grep\|two words\|$/)
    })
  })

  describe('where the image is missing', () => {
    beforeEach(() => begin('engine'))

    it('builds it with Go, from the version that is pinned, and says so before', async () => {
      const go =
        'if [[ $1 == env ]]; then echo go1.24.1; else echo "$@" >$NOTES/go; >$GOBIN/minio; fi'
      await machine.install('go', go)
      const { code, stderr } = await machine.start().outcome
      expect(code, stderr).to.equal(0)
      expect(stderr).to.include('only the first time')
      expect(await machine.note('go')).to.match(/^install \S+\/minio@v0\.0\.0-\d{14}-\w{12}\n$/)
      expect(await machine.note('build')).to.match(/--tag holdfast\/minio:\d{14}-\w{12} /)
      expect(await machine.note('dockerfile')).to.match(/^FROM scratch$/m)
    })

    it('builds it in a container where Go is missing or too old', async () => {
      for (const version of ['', 'go1.23.9']) {
        if (version) await machine.install('go', `echo ${version}`)
        const { code, stderr } = await machine.start().outcome
        expect(code, stderr).to.equal(0)
        expect(await machine.note('build')).to.match(
          /Dockerfile\.golang .*VERSION=v0\.0\.0-\d{14}-/,
        )
      }
    })

    it('says what to do if it cannot be built, and runs no test', async () => {
      await machine.leaveNote('broken')
      const { code, stdout, stderr } = await machine.start().outcome
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.include('Go 1.24').and.include('HOLDFAST_MINIO_IMAGE')
    })

    it('builds nothing if another one is named', async () => {
      const { code } = await machine.start([], { HOLDFAST_MINIO_IMAGE: 'mine:1' }).outcome
      expect({ code, build: await machine.note('build') }).to.deep.equal({ code: 0, build: '' })
    })
  })

  describe('where no engine answers', () => {
    /** Waits until the process with the id in the note `pid` is gone. */
    async function untilDockerdEnded(): Promise<void> {
      const pid = (await machine.note('pid')).trim()
      expect(pid).to.match(/^\d+$/)
      await until(() => !existsSync(`/proc/${pid}`))
    }

    it('starts one for the run, on a socket only, which publishes on this machine only', async () => {
      await begin('image')
      const { code, stdout } = await machine.start([], { CHECKS: 'echo $DOCKER_HOST' }).outcome
      expect(code).to.equal(0)
      const socket = stdout.trim()
      expect(socket).to.match(/^unix:\/\/\/.*docker\.sock$/)
      const given = await machine.note('dockerd')
      expect(given).to.include(`--host ${socket} `).and.include('--ip 127.0.0.1\n')
      expect(given.match(/(?<=^| )(--host|-H)/g)).to.have.length(1)
    })

    it('has stopped it when it ends, whether the checks end well or not', async () => {
      for (const code of [0, 1]) {
        await begin('image')
        const outcome = await machine.start([], { CHECKS: `exit ${code}` }).outcome
        expect(outcome.code).to.equal(code)
        await untilDockerdEnded()
        if (code === 0) await machine.remove()
      }
    })

    it('stops it when a signal ends the run, once the checks have ended', async () => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        await begin('image')
        const CHECKS = `trap 'kill $!; cat /proc/$(<$NOTES/pid)/comm >$NOTES/engine-at-end; exit 130' INT TERM
          sleep 60 & echo yes >$NOTES/running; wait`
        const running = machine.start([], { CHECKS })
        await until(async () => (await machine.note('running')) !== '')
        running.process.kill(signal)
        expect((await running.outcome).code).to.equal(130)
        // The stand-in becomes sleep a moment after it answers.
        expect(await machine.note('engine-at-end')).to.match(/^(sleep|dockerd)\n$/)
        await untilDockerdEnded()
        if (signal === 'SIGINT') await machine.remove()
      }
    })

    it('shows the log of one that does not come up, and what to do', async () => {
      await begin('image')
      await machine.install('dockerd', 'echo "permission denied (you must be root)"; exit 1')
      const { code, stdout, stderr } = await machine.start().outcome
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.include('permission denied').and.include('--without-containers')
    })

    it('installs one where there is none', async () => {
      await begin('image')
      await machine.uninstall('dockerd')
      const stub = `echo '${dockerd}' | sed '1i #!/bin/bash' >$BIN/dockerd; chmod +x $BIN/dockerd`
      await machine.install(
        'apt-get',
        `echo "$@" >>$NOTES/apt-get; [[ $1 == update ]] || { ${stub}; }`,
      )
      const { code, stderr } = await machine.start().outcome
      expect(code, stderr).to.equal(0)
      expect(await machine.note('apt-get')).to.equal(
        'update\ninstall -y --no-install-recommends docker.io iptables\n',
      )
      await untilDockerdEnded()
    })

    it('starts none beside the one that DOCKER_HOST names, and says what to do', async () => {
      await begin('image')
      const { code, stderr } = await machine.start([], { DOCKER_HOST: 'tcp://far:1' }).outcome
      expect(code).to.equal(1)
      expect(stderr).to.include('tcp://far:1').and.include('--without-containers')
      expect(await machine.note('pid')).to.equal('')
    })

    it('says what to do to whoever cannot install', async () => {
      machine = await makeMachine(false)
      const { code, stdout, stderr } = await machine.start().outcome
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.include('docker info').and.include('--without-containers')
    })
  })

  describe('with --without-containers', () => {
    it('asks for no engine, and has the tests name what they leave out', async () => {
      await begin()
      const CHECKS = 'echo "$# ${HOLDFAST_WITHOUT_CONTAINERS:?}"'
      const { code, stdout } = await machine.start(['--without-containers', 'scripts'], { CHECKS })
        .outcome
      expect(code).to.equal(0)
      const [, left] = /^2 (\S+)\n$/.exec(stdout) ?? []
      expect(left && existsSync(left)).to.equal(false)
      expect(await machine.note('pid')).to.equal('')
    })

    it('fails in CI', async () => {
      await begin('engine', 'image')
      const { code, stdout, stderr } = await machine.start(['--without-containers'], { CI: 'true' })
        .outcome
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.include('not for CI')
    })

    it('is the only way to leave tests out', async () => {
      await begin('engine', 'image')
      const CHECKS = 'echo "<${HOLDFAST_WITHOUT_CONTAINERS-unset}>"'
      const environment = { CHECKS, HOLDFAST_WITHOUT_CONTAINERS: '/dev/null' }
      expect((await machine.start([], environment).outcome).stdout).to.equal('<unset>\n')
    })
  })

  describe('where a program is missing', () => {
    it('installs it, and no service starts by that', async () => {
      await begin('engine', 'image')
      await machine.uninstall('nginx')
      const install =
        '$NOTES/policy >/dev/null; echo "$? $*" >$NOTES/policy-said; cp $BIN/curl $BIN/nginx'
      await machine.install('apt-get', `[[ $1 == update ]] || { ${install}; }`)
      const { code, stderr } = await machine.start().outcome
      expect(code, stderr).to.equal(0)
      const said = '101 install -y --no-install-recommends nginx\n'
      expect(await machine.note('policy-said')).to.equal(said)
      expect(await machine.note('policy')).to.equal('')
    })

    it('takes a Chromium of any name, and the one that is named', async () => {
      await begin('engine', 'image')
      await machine.uninstall('chromium')
      await machine.install('google-chrome', '')
      await machine.install('apt-get', 'touch $NOTES/installed')
      expect((await machine.start().outcome).code).to.equal(0)
      const HOLDFAST_BROWSER = '/no/such/browser'
      const { code, stderr } = await machine.start([], { HOLDFAST_BROWSER }).outcome
      expect(code).to.equal(1)
      expect(stderr).to.include('HOLDFAST_BROWSER names /no/such/browser')
      expect(await machine.note('installed')).to.equal('')
    })

    it('installs a browser if there is none', async () => {
      await begin('engine', 'image')
      await machine.uninstall('chromium')
      await machine.install('apt-get', 'echo "$*" >>$NOTES/installed')
      expect((await machine.start().outcome).code).to.equal(0)
      expect(await machine.note('installed'))
        .to.include(' chromium\n')
        .and.not.include('firefox')
    })

    it('installs Firefox beside Chromium, unless one is named', async () => {
      await begin('engine', 'image')
      await machine.uninstall('firefox-esr')
      await machine.install('apt-get', 'echo "$*" >>$NOTES/installed')
      const HOLDFAST_FIREFOX = '/bin/true'
      expect((await machine.start([], { HOLDFAST_FIREFOX }).outcome).code).to.equal(0)
      expect(await machine.note('installed')).to.equal('')
      expect((await machine.start().outcome).code).to.equal(0)
      expect(await machine.note('installed')).to.include(' firefox-esr\n')
    })

    it('says what to do where it cannot be installed', async () => {
      machine = await makeMachine(false)
      await machine.uninstall('curl')
      const { code, stderr } = await machine.start(['--without-containers']).outcome
      expect(code).to.equal(1)
      expect(stderr).to.include('apt-get install curl')
    })
  })
})
