import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'

/* Scrubs a log again and again, until it is killed, or once: `<file> [once]`. Prints each step, and the end of each scrub. */
const [filename = '', times] = process.argv.slice(2)
const { store } = createSqliteStore(
  { filename, compression: 'deflate' },
  { tuning: { segmentSize: 8, fanOut: 4 }, leaseMs: 200 },
)
const scrub = (): Promise<string> =>
  store.scrub!({ onProgress: ({ step }) => void process.stdout.write(`${step}\n`) }).then(
    () => 'scrubbed',
    ({ code, message }: { readonly code: string; readonly message: string }) =>
      `${code} ${message}`,
  )

do process.stdout.write(`${await scrub()}\n`)
while (times !== 'once')
await store.close()
