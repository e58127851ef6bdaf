import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { findProgram, lookUpProgram } from './find-program.ts'
import { startProcess } from './start-process.ts'
import { secured } from './secured.ts'
import type { CertificateFiles, Subject } from './subject.ts'
import { webDav } from './web-dav.ts'

/** nginx with one worker, sendfile, and WebDAV for uploads. It writes no access log: that is the fastest it can be. */
export const nginx: Subject = {
  name: 'nginx',
  lookUp: lookUpProgram('nginx', '-v', 'Debian: nginx-light'),
  start: async (directory, { tls } = {}) => {
    const [port, files] = [await findFreePort(), join(directory, 'files')]
    const configuration = join(directory, 'nginx.conf')
    await mkdir(files)
    await writeFile(configuration, configurationFor(directory, port, tls))
    const child = await startProcess({
      command: (await findProgram('nginx')) ?? 'nginx',
      args: ['-c', configuration, '-p', directory, '-e', join(directory, 'log')],
      log: join(directory, 'log'),
      port,
    })
    return { ...(tls ? secured(webDav) : webDav), ...child, name: 'nginx', port, files }
  },
}

const configurationFor = (directory: string, port: number, tls?: CertificateFiles) => `
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
    listen 127.0.0.1:${port}${tls ? ' ssl' : ''};
    ${tls ? `ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};` : ''}
    ${tls ? 'ssl_protocols TLSv1.2 TLSv1.3;' : ''}
    root ${directory}/files;
    autoindex on;
    autoindex_format json;
    dav_methods PUT DELETE;
  }
}
`
