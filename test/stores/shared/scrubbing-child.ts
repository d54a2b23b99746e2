import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'

/* Scrubs a log again and again, until it is killed: `<file>`. Prints each step, and a line after each scrub. */
const [filename = ''] = process.argv.slice(2)
const { store } = createSqliteStore(
  { filename, compression: 'deflate' },
  { tuning: { segmentSize: 8, fanOut: 4 }, leaseMs: 200 },
)
for (;;) {
  await store.scrub!({ onProgress: ({ step }) => void process.stdout.write(`${step}\n`) })
  process.stdout.write('scrubbed\n')
}
