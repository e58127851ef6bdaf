// Tests of the contract suites whose outcome does not depend on the S3 server: they are about what the store does by itself,
// such as judging chunks, iterating content and bounding memory. They run on MinIO. Titles begin below the suite's own.

/** Those of `describeBlobStore`. */
export const blobTestsOfTheStore: readonly string[] = [
  'chunks of bytes',
  'round trip > takes content as chunks of one byte',
  'round trip > takes content as empty chunks before, between and after others',
  'round trip > takes content as one chunk',
  'round trip > takes content as views into larger buffers',
  'round trip > takes content as a Node stream',
  'round trip > takes content of nothing but empty chunks for an empty blob',
  'round trip > takes one chunk of 8 MiB',
  'round trip > iterates content once, one chunk at a time, to its end',
  'round trip > looks at no chunk of 777 bytes again that it has released',
  'round trip > looks at no chunk of 65536 bytes again that it has released',
  'round trip > looks at no chunk of 3145728 bytes again that it has released',
  'round trip > releases only chunks that it was given, and none of them twice',
  'round trip > reads back, if at all, what it has taken in chunks of 777 bytes',
  'round trip > reads back, if at all, what it has taken in chunks of 65536 bytes',
  'round trip > reads back, if at all, what it has taken in chunks of 3145728 bytes',
  'streaming',
]

/** Those of `describeResumableUploads`. */
export const uploadTestsOfTheStore: readonly string[] = [
  'ids > are made of the characters that paths and addresses take',
  'ids > cannot be guessed',
  'ids > that no store gives find nothing',
  'appending > takes content one chunk at a time, and iterates it once',
  'appending > takes empty chunks for nothing',
  'appending > takes content that comes slowly',
  'appending > refuses a chunk that is a string, and keeps what came before',
  'appending > refuses a chunk that is an array, and keeps what came before',
  'appending > releases a chunk once at most, and only when it may be overwritten',
  'appending > has copied or written all chunks by the time it resolves',
  'big appends > takes 272 MiB in bounded memory, and all but 256 MiB are durable meanwhile',
  'interrupted appends',
  'all or nothing',
]
