import { findFreePort } from '@holdfast/testing'
import {
  type Connection,
  createSite,
  type HoldfastServer,
  openConnection,
  type Site,
  startHoldfast,
  until,
} from '@holdfast/testing'
import { expect } from 'chai'
import { createClient, type Client } from '../cluster/support/client.ts'
import { startProxy, type ProxyKind, type RunningProxy } from '../cluster/support/start-proxy.ts'
import { deletion, vectors } from './smuggling-vectors.ts'
import { statusesIn } from './statuses-in.ts'

const victim = { 'x-auth-name': 'victim', 'x-auth-password': 'battery staple' }
const customers =
  'customers: [{name: demo, password: correct horse}, {name: victim, password: battery staple}]\n'

interface Attack extends Connection {
  isOver(): boolean
}

/** What is behind is a request of its own to any proxy, which passes it on as such. */
const isHidden = ({ title }: { readonly title: string }) => !title.includes('a request behind')
const titles = vectors('')
  .filter(isHidden)
  .map(({ title }) => title)
const nameOf = (index: number) => `victim-${index}.txt`

for (const kind of ['nginx', 'haproxy'] as const satisfies ProxyKind[]) {
  describe(`a request that is hidden in another one, behind ${kind}`, function () {
    this.timeout(60_000)
    let site: Site
    let server: HoldfastServer
    let proxy: RunningProxy
    let honest: Client
    before(async () => {
      site = await createSite()
      await site.write('customers.yaml', customers)
      const args = ['--trust-proxy', '127.0.0.1', '--max-requests-per-customer', '1000']
      server = await startHoldfast(args, { cwd: site.path })
      const [clients, store] = [await findFreePort(), await findFreePort()]
      const routes = { clients, store, holdfast: Array(3).fill(server.port) as number[] }
      proxy = await startProxy(kind, { ...routes, minio: Array(4).fill(server.port) as number[] })
      honest = createClient(proxy, victim)
      await until('the proxy reaches holdfast', async () => {
        return (await honest.ask('/ping')).status === 200
      })
    })
    after(async () => {
      honest.close()
      await proxy.stop()
      await server.kill()
      await site.remove()
    })

    it('is not executed, and no client gets the answer to another request', async () => {
      for (const index of titles.keys()) {
        const body = Buffer.from(`content ${index}`)
        const answer = await honest.ask(`/upload/${nameOf(index)}`, { method: 'PUT', body })
        expect(answer.status).to.equal(200)
      }
      const attacks: Attack[] = []
      for (const index of titles.keys()) {
        attacks.push(await attack(index))
        // On the connections to holdfast that the attacks share.
        for (const near of [index, (index + 1) % titles.length]) await expectOwnAnswer(near)
      }
      const answered = () => attacks.filter((each) => each.received() !== '' || each.isOver())
      await until(
        () => `most attacks are answered; ${answered().length} are`,
        () => answered().length > titles.length * 0.8,
      )
      const executed: number[] = []
      for (const index of titles.keys()) {
        const { status } = await honest.ask(`/serve/${nameOf(index)}`)
        if (status !== 200) executed.push(index)
        else await expectOwnAnswer(index)
      }
      const counts = `${titles.length} ways, ${answered().length} answered, ${executed.length} taken apart by the proxy`
      console.log(`figures: smuggling behind ${kind}: ${counts}`)
      for (const each of attacks) each.socket.destroy()
      // The proxy itself took these for two requests, as whoever sent them was told.
      for (const index of executed) {
        const received = attacks[index]?.received() ?? ''
        expect(statusesIn(received), titles[index]).to.have.length(2)
      }
    })

    async function attack(index: number): Promise<Attack> {
      const vector = vectors(deletion(nameOf(index), victim)).filter(isHidden)[index]
      const connection = await openConnection(Number(new URL(proxy.url).port), {
        ca: proxy.certificate,
      })
      let isOver = false
      void connection.closed.then(() => (isOver = true))
      connection.socket.write(Buffer.from(vector?.bytes ?? '', 'latin1'))
      return { ...connection, isOver: () => isOver }
    }

    async function expectOwnAnswer(index: number) {
      const { status, text } = await honest.ask(`/serve/${nameOf(index)}`)
      if (status === 200) expect(text).to.equal(`content ${index}`)
      else expect(text).to.include('File not found')
    }
  })
}
