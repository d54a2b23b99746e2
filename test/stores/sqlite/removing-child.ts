import { sqliteStore } from 'daybook/sqlite'

/* Removes all events until it is killed: `<file>`. Each line on stdout is how many are gone. */
const [filename = ''] = process.argv.slice(2)
const store = sqliteStore({ filename })
await store.removeBefore(Infinity, {
  // To a pipe this is synchronous.
  onProgress: (removed) => void process.stdout.write(`${removed}\n`),
})
await store.close()
