import fs from 'node:fs'
import { AuditLog, type AuditEvent } from 'daybook'
import { webhook } from 'daybook/channels'
import { openStore } from '../../support/open-store.js'
import { type Arrival, arrivalsFile, PROCESS_HEADER, TYPE } from './log.js'

/* Delivers to a function and to a webhook until it is killed: `<Postgres URL or SQLite file> <folder> <name> <URL of the receiver>`. */

const [location = '', folder = '', name = '', url = ''] = process.argv.slice(2)
const file = arrivalsFile(folder, 'function')
const filter = `filter[type_eq]=${TYPE}`

const audit: AuditLog = new AuditLog({
  store: openStore(location),
  types: {},
  subscriptions: {
    channels: {
      function: {
        deliver(events: readonly AuditEvent[]) {
          const arrival: Arrival = {
            at: Date.now(),
            process: name,
            events: events.map(({ created_at, attributes }) => ({
              key: attributes['key'] as string,
              created_at,
            })),
          }
          // A single write of a short line is atomic, even if other processes write.
          fs.appendFileSync(file, `${JSON.stringify(arrival)}\n`)
        },
      },
      webhook: webhook({
        url,
        secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
        headers: { [PROCESS_HEADER]: name },
        batch: { maxEvents: 10 },
      }),
    },
    subscriptions: {
      'to-function': { channel: 'function', filter, from: 'beginning' },
      'to-webhook': { channel: 'webhook', filter, from: 'beginning' },
    },
  },
})
process.stdout.write(`ready ${audit.store.name}\n`)
