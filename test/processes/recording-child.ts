import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'

/*
 * A process that records `count` events, or until it is killed: `<file> <name> <in flight> [count]`. Prints the id of
 * each acknowledged event before any other work.
 */
const [filename = '', name = '', inFlight = '1', count = 'Infinity'] = process.argv.slice(2)
const audit: AuditLog = new AuditLog({ store: sqliteStore({ filename }), types: {} })
let n = 0

async function recordNext(): Promise<void> {
  while (n < Number(count)) {
    const event = await audit.recordCustom('test:child', { name, n: n++ })
    // Writing to a pipe is synchronous.
    process.stdout.write(`${event!.id}\n`)
  }
}

await Promise.all(Array.from({ length: Number(inFlight) }, recordNext))
await audit.close()
