import type { RunningSubject } from '../subjects/subject.ts'

/** Files that a client moves, in a directory of this machine in which its commands run. */
export interface ClientFiles {
  readonly names: readonly string[]
  /** What their names begin with, and those of no other files. */
  readonly prefix: string
}

/** A command of a client, as a user would write it. */
export interface ClientCommand {
  readonly command: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/** A command-line client, with a server that it stores files on and fetches them from. */
export interface Client {
  /** As tables name it. */
  readonly name: string
  readonly server: RunningSubject
  /** With how many files it is measured at most: where it takes long, its rate with these is that with all. */
  readonly most?: number
  /** Whether it is of no use for a single file. */
  readonly needsMany?: boolean
  /** Stores those files of the current directory. */
  put(files: ClientFiles): ClientCommand
  /** Fetches those files into the current directory. */
  get(files: ClientFiles): ClientCommand
}
