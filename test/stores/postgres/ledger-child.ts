import { AuditLog } from 'daybook'
import { keyFile } from 'daybook/ledger'
import { postgresStore } from 'daybook/postgres'
import { eventAt } from '../../support/imported-event.js'

/*
 * A process that records, imports and seals until it is killed: `<place> <key file> <clock ahead by microseconds> <number>`. Prints a
 * line after its first head.
 */

const [place, key, ahead, number] = process.argv.slice(2)
const { connectionString, schema, origin } = JSON.parse(place!) as Readonly<
  Record<'connectionString' | 'schema' | 'origin', string>
>
const audit: AuditLog = new AuditLog({
  store: postgresStore({
    connectionString,
    schema,
    clock: () => Date.now() * 1000 + Number(ahead),
  }),
  types: { 'test:live': {} },
  ledger: { origin, signer: keyFile(key!) },
})

async function record(): Promise<never> {
  for (let n = 0; ; n++) {
    await Promise.all(Array.from({ length: 20 }, () => audit.recordCustom('test:event', { n })))
    const live = await audit.recordLive('test:live', { n })
    if (n % 3 > 0) await live.close()
    if (n % 5 === 0)
      await audit.importEvents([eventAt(1_700_000_000_000_000 + Number(number) * 100_000 + n)])
  }
}

async function seal(): Promise<never> {
  for (;;) {
    // Another process may have changed the key's last note meanwhile.
    await audit.ledger.checkpoint().catch(() => {})
    if ((await audit.ledger.status()).state === 'sealing') process.stdout.write('sealing\n')
  }
}

await Promise.all([record(), seal()])
