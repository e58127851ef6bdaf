import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { findProgram, versionOf } from './find-program.ts'
import { startProcess } from './start-process.ts'
import { webDav } from './web-dav.ts'
import type { Subject } from './subject.ts'

/** nginx with one worker, sendfile, and WebDAV for uploads. It writes no access log: that is the fastest it can be. */
export const nginx: Subject = {
  name: 'nginx',
  lookUp: async () => {
    const program = await findProgram('nginx')
    if (program === undefined) return { missing: 'there is no program nginx (Debian: nginx-light)' }
    return { version: (await versionOf(program, '-v')).replace('nginx version: ', '') }
  },
  start: async (directory) => {
    const [port, files] = [await freePort(), join(directory, 'files')]
    const configuration = join(directory, 'nginx.conf')
    await mkdir(files)
    await writeFile(configuration, configurationFor(directory, port))
    const child = await startProcess({
      command: (await findProgram('nginx')) ?? 'nginx',
      args: ['-c', configuration, '-p', directory, '-e', join(directory, 'log')],
      log: join(directory, 'log'),
      port,
    })
    return { ...webDav, ...child, name: 'nginx', port, files }
  },
}

const configurationFor = (directory: string, port: number) => `
${process.geteuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${directory}/pid;
events { worker_connections 8192; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  types_hash_max_size 2048;
  client_max_body_size 0;
  client_body_temp_path ${directory}/body;
  proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/fastcgi;
  uwsgi_temp_path ${directory}/uwsgi;
  scgi_temp_path ${directory}/scgi;
  server {
    listen 127.0.0.1:${port};
    root ${directory}/files;
    autoindex on;
    autoindex_format json;
    dav_methods PUT DELETE;
  }
}
`
