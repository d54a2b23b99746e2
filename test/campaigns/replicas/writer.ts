import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'

/*
 * Records events until stdin is closed: `<URL of the log> <number of concurrent calls>`. Prints `<id> <created_at>`
 * of each acknowledged event.
 */

const [connectionString = '', writers = '4'] = process.argv.slice(2)
const audit = new AuditLog({ store: postgresStore({ connectionString }), types: {} })
let isOver = false
process.stdin.on('end', () => (isOver = true)).resume()

async function write(writer: number): Promise<void> {
  for (let n = 0; !isOver; n++) {
    const event = await audit.recordCustom('soak:replicas', { writer, n })
    const isTaken = process.stdout.write(`${event!.id} ${event!.created_at}\n`)
    if (!isTaken) await new Promise((resolve) => process.stdout.once('drain', resolve))
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => write(writer)))
await audit.close()
