import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import {
  type AuditEvent,
  type AuditLog,
  AuditLogError,
  type AuditLogOptions,
  defineEventTypes,
  type EventStore,
  type EventTypes,
  formatTimestamp,
  type JsonObject,
  type MasterKey,
} from 'daybook'
import { exportEvents } from 'daybook/export'
import { recordRequests } from 'daybook/fetch'
import { sqliteJournal } from 'daybook/sqlite'
import pg from 'pg'
import { expect } from 'vitest'
import { filesIn, scanBytes, scanFiles } from '../../support/scan-files.js'

/* A log in which every person has random words in each personal attribute, and a scanner that finds them in bytes. */

/** Part of every word of a person, in lower case because an index may fold it. */
export const MARK = 'zq7canary'
/** Begins every address of a person. */
const NETWORK = '198.51.'
const UPDATE = 'api:customers:update'
const USER = { kind: 'user', from: '@username' }
const REFUSED = { personal: [{ subject: USER, attributes: ['remote_address', 'user_agent'] }] }

export const canaryTypes = defineEventTypes({
  [UPDATE]: {
    personal: [
      {
        subject: { kind: 'customer', from: 'customer_id' },
        attributes: ['email', 'body_address', 'people_name'],
      },
      { subject: USER, attributes: ['remote_address', 'user_agent'] },
    ],
  },
  'error:unmatched:create': REFUSED,
  // Refusals beyond the limits are counted as this type.
  'error:api:controller:refused': REFUSED,
})

const customRules = () => canaryTypes[UPDATE].personal

/** A person as the customer and the user of the same number. */
interface Person {
  readonly customer: string
  readonly user: string
  readonly address: string
  /** The words of the person that were recorded. */
  readonly words: Set<string>
}

export const people = (count: number): readonly Person[] =>
  Array.from({ length: count }, (_, n) => ({
    customer: `c${n}`,
    user: `u${n}`,
    address: `${NETWORK}${n >> 8}.${n & 255}`,
    words: new Set<string>(),
  }))

function word({ words }: Person): string {
  const made = `${MARK}${randomBytes(6).toString('hex')}`
  words.add(made)
  return made
}

const dataOf = (person: Person, n: number): JsonObject => ({
  customer_id: person.customer,
  n,
  email: `${word(person)}@example.org`,
  body: { address: { city: word(person), [word(person)]: true }, other: n },
  people: [{ name: word(person), n }, { n }],
  remote_address: person.address,
  user_agent: word(person),
})

/** A store that can be away. */
export function awayStore(store: EventStore): { readonly store: EventStore; isAway: boolean } {
  const away = {
    isAway: false,
    store: {
      ...store,
      append: (...call: Parameters<EventStore['append']>) =>
        away.isAway
          ? Promise.reject(new AuditLogError('STORE_FAILED', 'the store is away'))
          : store.append(...call),
    },
  }
  return away
}

/** Where a run has its files. */
export interface CanaryFiles {
  readonly dir: string
  readonly archive: string
  readonly journal: string
  readonly delivered: string
}

export const canaryFiles = (dir: string): CanaryFiles => {
  const archive = path.join(dir, 'archive')
  fs.mkdirSync(archive, { recursive: true })
  const [journal, delivered] = ['journal.db', 'delivered.ndjson'].map((name) =>
    path.join(dir, name),
  ) as [string, string]
  return { dir, archive, journal, delivered }
}

/** The options of the log: a journal, a rule that archives, and a channel that writes to a file. */
export const canaryOptions = (
  files: CanaryFiles,
  keep: number,
): Partial<AuditLogOptions<EventTypes>> => ({
  types: canaryTypes,
  failurePolicy: 'queue',
  journal: sqliteJournal({ filename: files.journal }),
  waiting: { deadlineMs: 60_000 },
  cleaning: {
    rules: [{ name: 'old', target: 'events', maxRows: keep, archive: files.archive }],
    scheduled: false,
  },
  subscriptions: {
    channels: {
      file: {
        deliver: async (events) =>
          fs.appendFileSync(
            files.delivered,
            events.map((one) => `${JSON.stringify(one)}\n`).join(''),
          ),
      },
    },
    subscriptions: { all: { channel: 'file', from: 'beginning', retain: null } },
  },
})

export const privacyOf = (
  keys: NonNullable<Exclude<AuditLogOptions<EventTypes>['privacy'], false>>['keys'],
) => ({
  keys,
  custom: customRules,
})

/** Records in a transaction of the host. */
type InTransaction = (act: (transaction: never) => Promise<unknown>) => Promise<void>

export const onSqlite =
  (filename: string): InTransaction =>
  async (act) => {
    const database = new Database(filename)
    try {
      // A transaction that lasts beyond this turn would keep the log of this thread from writing.
      database.exec('BEGIN')
      const acted = act(database as never)
      acted.catch(() => {})
      database.exec('COMMIT')
      await acted
    } finally {
      database.close()
    }
  }

export const onPostgres =
  (connectionString: string): InTransaction =>
  async (act) => {
    const client = new pg.Client({ connectionString })
    await client.connect()
    try {
      await client.query('BEGIN')
      await act(client as never)
      await client.query('COMMIT')
    } finally {
      await client.end()
    }
  }

interface Recording {
  readonly audit: AuditLog
  readonly inTransaction: InTransaction
}

const imported = (person: Person, n: number): AuditEvent => ({
  id: randomUUID(),
  created_at: formatTimestamp(1_700_000_000_000_000 + n * 1_000_003),
  username: person.user,
  system: true,
  type: UPDATE,
  source: null,
  attributes: dataOf(person, n),
})

/** The ways in which an event gets into a log. */
const WAYS: readonly ((log: Recording, person: Person, n: number) => Promise<unknown>)[] = [
  ({ audit }, person, n) =>
    audit.recordSystem(UPDATE, dataOf(person, n), { username: person.user }),
  ({ audit }, person, n) =>
    audit.recordChange(UPDATE, dataOf(person, n), dataOf(person, n), {
      data: { customer_id: person.customer },
      username: person.user,
    }),
  async ({ audit }, person, n) => {
    const options = { username: person.user }
    // The outcome replaces the data of the intent.
    const isFailed = n % 2 === 0
    const data = isFailed
      ? dataOf(person, n)
      : { customer_id: person.customer, email: `${MARK}-opened` }
    const intent = await audit.intents().open(UPDATE, data, options)
    if (isFailed) await intent.fail(new Error('gone'))
    else await intent.record(UPDATE, dataOf(person, n), options)
  },
  async ({ audit }, person, n) => {
    const event = imported(person, n)
    await audit.importEvents([event])
    await audit.importEvents([event])
  },
  async ({ audit }, person, n) => {
    const data = dataOf(person, n)
    const options = { idempotencyKey: `key-${n}`, username: person.user }
    await audit.recordCustom('own', data, options)
    await audit.recordCustom('own', data, options)
  },
  async ({ audit, inTransaction }, person, n) => {
    await audit.loadKeys([{ customer: person.customer }, { user: person.user }])
    await inTransaction((transaction) =>
      audit.recordSystem(UPDATE, dataOf(person, n), { username: person.user, transaction }),
    )
  },
]

/** Refused requests of users and of others, of which some become counts. */
async function refuse(audit: AuditLog, persons: readonly Person[]): Promise<void> {
  const record = recordRequests(audit, {
    address: ({ headers }) => headers.get('x-address') ?? '',
    username: ({ headers }) => headers.get('x-user'),
  })
  const handle = record(
    async ({ headers }) => new Response('wrong', { status: headers.has('x-user') ? 400 : 401 }),
  )
  const send = (headers: Record<string, string>): Promise<Response> =>
    handle(new Request('http://localhost/orders', { method: 'POST', headers }))
  for (const person of persons.slice(0, 60)) {
    const address = { 'x-address': person.address }
    await send({ ...address, 'x-user': person.user, 'user-agent': word(person) })
    for (let n = 0; n < 3; n++) await send({ ...address, 'user-agent': `${MARK}-${n}` })
  }
}

/** Records so many events in all ways, while the store is away for some of them. */
export async function recordAll(
  log: Recording & { readonly away: { isAway: boolean } },
  persons: readonly Person[],
  count: number,
): Promise<void> {
  const { audit, away } = log
  await refuse(audit, persons)
  const LANES = 16
  const lane = async (first: number): Promise<void> => {
    for (let n = first; n < count; n += LANES)
      await WAYS[Math.floor(n / persons.length + n) % WAYS.length]!(
        log,
        persons[n % persons.length]!,
        n,
      )
  }
  await Promise.all(Array.from({ length: LANES }, (_, n) => lane(n)))
  away.isAway = true
  const waiting = await Promise.allSettled(
    persons.map((person, n) =>
      audit.recordSystem(UPDATE, dataOf(person, n), { username: person.user }),
    ),
  )
  expect(waiting.map(({ status }) => status)).not.toContain('rejected')
}

const TABLES = `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
  WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`

/** The rows of all tables of a database, and the statistics of the planner. */
async function rowsOf(connectionString: string): Promise<string> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query('ANALYZE')
    const { rows } = await client.query<{ name: string }>(TABLES)
    const texts: string[] = []
    for (const name of [...rows.map((row) => row.name), 'pg_stats']) {
      const found = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)
      texts.push(...found.rows.map(({ row }) => row))
    }
    return texts.join('\n')
  } finally {
    await client.end()
  }
}

/** Where a word or an address of a person stands in clear: in the files of a folder, and in a database. */
export async function scan(dir: string, connectionString?: string): Promise<readonly string[]> {
  const marks = [MARK, NETWORK]
  const found = [
    ...scanFiles(dir, marks),
    ...(connectionString === undefined
      ? []
      : scanBytes('postgres', Buffer.from(await rowsOf(connectionString)), marks)),
  ]
  return [...new Set(found.map(({ file, as }) => `${path.basename(file)} (${as})`))]
}

/** A key management service, whose key can be destroyed. */
export function service(id: string): { readonly master: MasterKey; destroy(): void } {
  const key = randomBytes(32)
  let isDestroyed = false
  const use = (): Buffer => {
    if (isDestroyed) throw new Error('there is no such key')
    return key
  }
  return {
    master: {
      id,
      async wrap(bytes) {
        const nonce = randomBytes(12)
        const cipher = createCipheriv('aes-256-gcm', use(), nonce)
        return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
      },
      async unwrap(wrapped) {
        const bytes = Buffer.from(wrapped)
        const decipher = createDecipheriv('aes-256-gcm', use(), bytes.subarray(0, 12))
        decipher.setAuthTag(bytes.subarray(-16))
        return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
      },
    },
    destroy: () => void (isDestroyed = true),
  }
}

/** The events as the stored form of an export has them. */
export async function storedLines(audit: AuditLog): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of exportEvents(audit, undefined, { personal: 'stored' }))
    chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** The archived lines. */
export const archivedLines = (archive: string): string =>
  filesIn(archive)
    .filter((file) => file.endsWith('.gz'))
    .map((file) => gunzipSync(fs.readFileSync(file)).toString())
    .join('')

export const eventsOf = (lines: string): readonly AuditEvent[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent)

/** All texts that a reader of the log gets. */
export async function readAll(audit: AuditLog): Promise<string> {
  const texts: string[] = []
  for await (const page of audit.pages('filter[sorts]=created_at')) texts.push(JSON.stringify(page))
  const chunks: Uint8Array[] = []
  for await (const chunk of exportEvents(audit)) chunks.push(chunk)
  return texts.join('\n') + Buffer.concat(chunks).toString()
}
