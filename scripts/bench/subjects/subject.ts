/**
 * A request that a load generator sends. In its path, headers and body `{n}` stands for a number of six digits; a request may
 * have `{n64}` instead, in its path or headers, which is that number in Base64.
 */
export interface BenchRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** Whether it goes over TLS; whoever sends it believes any certificate. */
  readonly isSecure?: boolean
}

/** How a subject wants to be asked; what it has no answer to is missing. */
export interface Dialect {
  readonly ping?: () => BenchRequest
  readonly get: (name: string) => BenchRequest
  /** The head of an upload as a form; whoever sends it puts the form behind it. */
  readonly form?: () => BenchRequest
  readonly put?: (name: string) => BenchRequest
  /** The head of what begins an upload by tus; `tusCreation` adds the headers of the protocol. */
  readonly tus?: () => BenchRequest
  readonly remove?: (name: string) => BenchRequest
  readonly list?: () => BenchRequest
}

/** A server that is measured, and runs. */
export interface RunningSubject extends Dialect {
  readonly name: string
  readonly port: number
  readonly pid: number
  /** The directory in which the files lie that it serves, each under its own name. */
  readonly files: string
  /** From the start of the process until it took connections, in milliseconds. */
  readonly startMs: number
  /** The command that is its client, before the verb. */
  readonly client?: readonly string[]
  /** Makes a bucket, if it speaks S3. */
  readonly createBucket?: () => Promise<S3Bucket>
  stop(): Promise<void>
}

/** A bucket, and who may use it. */
export interface S3Bucket {
  readonly endpoint: string
  readonly bucket: string
  readonly accessKey: string
  readonly secretKey: string
}

/** Where a certificate and its key are, both PEM. */
export interface CertificateFiles {
  readonly certificate: string
  readonly key: string
}

export interface StartOptions {
  /** What the server speaks HTTPS with, if it is to. */
  readonly tls?: CertificateFiles | undefined
  /** Environment variables beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>
  /** Modules that a Node.js process loads before its program. */
  readonly preloaded?: readonly string[]
}

/** What can be measured: a server, or a program that speaks to one. */
export interface Measurable {
  readonly name: string
  /** Its version, or why it cannot be had on this machine. */
  lookUp(): Promise<{ readonly version: string } | { readonly missing: string }>
}

/** A server that can be measured. */
export interface Subject extends Measurable {
  /** Starts it on a port of 127.0.0.1 and resolves when it answers. What it writes stays below `directory`, which is empty. */
  start(directory: string, options?: StartOptions): Promise<RunningSubject>
}
