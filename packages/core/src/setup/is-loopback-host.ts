/** Whether the `hostname` of a URL is this machine: `localhost` or below it, ::1, or an address of 127.0.0.0/8. */
export function isLoopbackHost(hostname: string): boolean {
  // A URL has each such address in this form. A name that begins with "127." may be anywhere.
  return /^(127(\.\d{1,3}){3}|\[::1\]|(.*\.)?localhost)$/.test(hostname)
}
