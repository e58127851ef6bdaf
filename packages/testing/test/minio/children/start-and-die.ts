/**
 * Starts a MinIO, tells the container's id, and ends without stopping it: by an exception with the argument `throw`, or
 * else not before it is killed.
 */
import { startMinio } from '../../../src/minio/start-minio.ts'

const { containerId } = await startMinio()
console.log(containerId)
if (process.argv[2] === 'throw') throw new Error('unforeseen')
setInterval(() => {}, 1000)
