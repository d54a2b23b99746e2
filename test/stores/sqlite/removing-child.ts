import { sqliteStore } from 'daybook/sqlite'

/* Removes all events, or is killed before: `<file>`. Each line on stdout is the number of removed events. */
const [filename = ''] = process.argv.slice(2)
const store = sqliteStore({ filename })
await store.removeBefore(Infinity, {
  // Writing to a pipe is synchronous.
  onProgress: (removed) => void process.stdout.write(`${removed}\n`),
})
await store.close()
