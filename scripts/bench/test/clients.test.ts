import { expect } from 'chai'
import { holdfastClient } from '../clients/holdfast-client.ts'
import { rcloneByS3, rcloneByWebDav } from '../clients/rclone.ts'
import { s5cmd } from '../clients/s5cmd.ts'
import { webDav } from '../subjects/web-dav.ts'

const running = { port: 1234, pid: 1, files: '', startMs: 0, stop: async () => {} }
const server = { ...webDav, ...running, name: 'server' }
const place = { endpoint: 'http://127.0.0.1:1234', bucket: 'b', accessKey: 'a', secretKey: 's' }
const files = { names: ['round-1-000000', 'round-1-000001'], prefix: 'round-1-' }

describe('the clients', () => {
  it('are commands that store the files of a round, and fetch them', () => {
    const holdfast = { ...server, client: ['node', 'holdfast.js'] }
    const config = ['--config', '/dev/null', 'copy']
    const endpoint = ['--endpoint-url', place.endpoint, 'cp']
    for (const [client, put, get] of [
      [
        holdfastClient(holdfast, '/home'),
        ['node', 'holdfast.js', 'put', ...files.names],
        ['node', 'holdfast.js', 'get', 'round-1-*'],
      ],
      [
        rcloneByS3('rclone', server, place),
        ['rclone', ...config, '.', 'bench:b/round-1-'],
        ['rclone', ...config, 'bench:b/round-1-', '.'],
      ],
      [
        rcloneByWebDav('rclone', server),
        ['rclone', ...config, '.', 'bench:round-1-'],
        ['rclone', ...config, 'bench:round-1-', '.'],
      ],
      [
        s5cmd('s5cmd', server, place),
        ['s5cmd', ...endpoint, '*', 's3://b/round-1-/'],
        ['s5cmd', ...endpoint, 's3://b/round-1-/*', '.'],
      ],
    ] as const) {
      const [stored, fetched] = [client.put(files), client.get(files)]
      expect([stored.command, ...stored.args]).to.deep.equal(put)
      expect([fetched.command, ...fetched.args]).to.deep.equal(get)
    }
  })

  it('get no password as an argument, where others would see it', () => {
    const all = [rcloneByS3('rclone', server, { ...place, secretKey: 'hidden' })]
    all.push(s5cmd('s5cmd', server, { ...place, secretKey: 'hidden' }))
    for (const client of all) {
      const { args, environment = {} } = client.put(files)
      expect(args.join(' ')).not.to.include('hidden')
      expect(Object.values(environment)).to.include('hidden')
    }
  })
})
