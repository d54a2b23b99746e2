import { AuditLog } from 'daybook'
import { recordRequests } from 'daybook/fetch'
import { sqliteStore } from 'daybook/sqlite'

/*
 * A service on the SQLite file `<name>` that refuses `<count>` requests of one client, and then idles. Prints
 * `reported <sum>` when the store has the count of this number of refusals without an event.
 */
const [filename = '', count = '0'] = process.argv.slice(2)
const store = sqliteStore({ filename })
let reported = 0
const audit: AuditLog = new AuditLog({
  store: {
    ...store,
    async reportSuppressed(report, options) {
      await store.reportSuppressed(report, options)
      for (const one of report.counts) reported += one.count
      process.stdout.write(`reported ${reported}\n`)
    },
  },
  types: {},
})
const handle = recordRequests(audit, { address: () => '192.0.2.1' })(
  () => new Response('wrong', { status: 400 }),
)
for (let i = 0; i < Number(count); i++)
  await handle(new Request('http://service.test/', { method: 'POST' }))
setInterval(() => {}, 60_000)
