import { AuditLog } from 'daybook'
import { keyFile } from 'daybook/ledger'
import { sqliteStore } from 'daybook/sqlite'
import { ORIGIN } from '../../support/ledger-key.js'

/*
 * A process that records events and removes them again until it is killed: `<file> <key file> <archive>`. It takes an old row of leaves away
 * every few milliseconds. Prints a line once it has removed something.
 */

const [filename = '', key = '', archive = ''] = process.argv.slice(2)
const audit = new AuditLog({
  store: sqliteStore({ filename }),
  types: { 'info:job': {} },
  ledger: { origin: ORIGIN, signer: keyFile(key) },
  cleaning: {
    rules: [
      { name: 'odd', target: 'events', maxRows: 40, filter: 'filter[odd_eq]=1' },
      { name: 'archived', target: 'events', maxRows: 400, archive },
      { name: 'rest', target: 'events', maxRows: 300 },
    ],
    holds: [{ filter: 'filter[n_eq]=7' }],
    scheduled: false,
  },
})

for (let round = 0; ; round++) {
  const live = await audit.recordLive('info:job', { round })
  const calls = Array.from({ length: 80 }, (_, n) =>
    audit.recordCustom('test:event', { n, odd: n % 2 }),
  )
  await Promise.all(calls)
  await live.close()
  if (round % 5 === 0)
    await audit.importEvents([
      {
        id: crypto.randomUUID(),
        created_at: new Date(Date.now() - 1e9 * Math.random()).toISOString().replace('Z', '000Z'),
        username: null,
        system: false,
        type: 'test:imported',
        source: null,
        attributes: { round },
      },
    ])
  const results = await audit.cleaning.run()
  for (const { error } of results)
    if (error !== undefined) process.stdout.write(`error: ${error}\n`)
  if (results.some(({ removed_count }) => removed_count > 0)) process.stdout.write('removed\n')
}
