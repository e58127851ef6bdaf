import { dufs } from './dufs.ts'
import { nginx } from './nginx.ts'
import { createNodePeer } from './node-peer.ts'
import type { Subject } from './subject.ts'
import { tusd } from './tusd.ts'

const fastify = createNodePeer('fastify', ['fastify', '@fastify/multipart', '@fastify/static'], {
  put: (name) => ({ method: 'PUT', path: `/upload/${name}` }),
})

/** An application that has nothing to load and nothing to do, for its first answer. */
export const emptyFastify = createNodePeer('fastify-empty', ['fastify'])

/** What a user would pick instead of holdfast on a disk. */
export const peers: readonly Subject[] = [
  fastify,
  createNodePeer('express', ['express', 'multer']),
  nginx,
  dufs,
]

/** Those that are measured over TLS, too. */
export const securePeers: readonly Subject[] = [fastify, nginx]

/** Servers of the tus protocol, with files on a disk. */
export const tusPeers: readonly Subject[] = [
  tusd,
  createNodePeer('tus-server', ['@tus/server', '@tus/file-store'], {
    tus: () => ({ method: 'POST', path: '/files' }),
  }),
]
