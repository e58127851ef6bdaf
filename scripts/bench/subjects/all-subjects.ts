import { dufs } from './dufs.ts'
import { nginx } from './nginx.ts'
import { createNodePeer } from './node-peer.ts'
import type { Subject } from './subject.ts'

/** What a user would pick instead of holdfast on a disk. */
export const peers: readonly Subject[] = [
  createNodePeer('fastify', ['fastify', '@fastify/multipart', '@fastify/static']),
  createNodePeer('express', ['express', 'multer']),
  nginx,
  dufs,
]
