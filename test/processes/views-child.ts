import { AuditLog, AuditLogError } from 'daybook'
import { createViews } from '../../src/views/views.js'
import { openStore } from '../support/open-store.js'

/*
 * A process that creates views concurrently, and changes an existing one: `<store> <user> <views> <id>`, where the
 * store is a Postgres URL or the name of an SQLite file. Prints the result of each call.
 */
const [location = '', user = '', count = '0', id = ''] = process.argv.slice(2)

const store = openStore(location)
const audit = new AuditLog({ store, types: {} })
const views = createViews(audit)
// Opens the store, so that the processes write at the same time.
await views.list()

const resultOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'done',
    (error: unknown) => (error instanceof AuditLogError ? error.code : String(error)),
  )

const empty = { query: '', range: null, display: {}, shared: false }
const results = await Promise.all([
  ...Array.from({ length: Number(count) }, (_, i) =>
    resultOf(views.create({ ...empty, name: `${user} ${i}` }, user)),
  ),
  resultOf(
    views.update(id, user === 'ann' ? { range: '7d' } : { query: 'filter[type_eq]=x' }, {
      username: user,
      allow: () => {},
    }),
  ),
])
process.stdout.write(results.map((result) => `${result}\n`).join(''))
await audit.close()
