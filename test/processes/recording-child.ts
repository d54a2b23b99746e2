import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'

/*
 * A process that records until it is killed, or `count` events: `<file> <name> <in flight> [count]`.
 * Each acknowledged event's id is a line on stdout, written before anything else happens.
 */
const [filename = '', name = '', inFlight = '1', count = 'Infinity'] = process.argv.slice(2)
const audit: AuditLog = new AuditLog({ store: sqliteStore({ filename }), types: {} })
let n = 0

async function recordOn(): Promise<void> {
  while (n < Number(count)) {
    const event = await audit.recordCustom('test:child', { name, n: n++ })
    // To a pipe this is synchronous.
    process.stdout.write(`${event!.id}\n`)
  }
}

await Promise.all(Array.from({ length: Number(inFlight) }, recordOn))
await audit.close()
