import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog } from 'daybook'
import { postgresCheckups, postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { EventStore, WaitOptions } from '../../../src/store/store.js'
import { draft } from '../../../src/testing/conformance/helpers.js'
import { oldEvent } from '../../support/imported-event.js'
import { DEADLINE_MS, driveDeadlines } from '../../support/deadlines.js'
import { type OwnServer, startOwnPostgres } from '../../support/postgres.js'
import { takeWarnings } from '../../support/warnings.js'

/*
 * A server with a synchronous standby. A commit that is cancelled while it waits for the standby succeeds with a
 * warning. The commit is lost if the standby takes over.
 */

let primary: OwnServer
let standby: OwnServer
let admin: pg.Client

beforeAll(async () => {
  primary = await startOwnPostgres()
  standby = await primary.replicate()
  admin = new pg.Client({ connectionString: primary.url })
  admin.on('error', () => undefined)
  await admin.connect()
  // ALTER SYSTEM is used instead of the command line, whose settings the standby would also get.
  await admin.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await admin.query('SELECT pg_reload_conf()')
  await untilSynchronous()
})
/** Resumes the standby if a test has suspended it. */
let resume = (): void => {}
const suspend = (): void => {
  resume = standby.freeze()
}
const opened: { close(): Promise<void> }[] = []
const closing = <Log extends { close(): Promise<void> }>(log: Log): Log => {
  opened.push(log)
  return log
}
afterEach(async () => {
  resume()
  await Promise.all(opened.splice(0).map((log) => log.close()))
})
afterAll(async () => {
  await admin.end()
  await standby.stop()
  await primary.stop()
})

/** Polls until the query returns a row. */
async function untilRow(text: string, values: unknown[] = []): Promise<Record<string, unknown>> {
  for (;;) {
    const { rows } = await admin.query(text, values)
    if (rows.length > 0) return rows[0] as Record<string, unknown>
    await delay(10)
  }
}

const untilSynchronous = () =>
  untilRow(`SELECT FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')`)

const WAITING = `SELECT pid, query_start::text AS since FROM pg_stat_activity
  WHERE wait_event = 'SyncRep' AND NOT concat(pid, query_start) = ANY ($1::text[])`

/** Ends the wait of a commit for the standby: either the commit is reported, or its connection breaks. */
type EndOfWait = 'pg_cancel_backend' | 'pg_terminate_backend'

/** Waits for a commit to wait for the standby, and ends its wait. Returns commits to ignore from then on. */
async function endWait(end: EndOfWait): Promise<readonly string[]> {
  const { pid } = await untilRow(WAITING, [[]])
  const { rows } = await admin.query(
    `SELECT concat(pid, query_start) AS key, ${end}(pid) FROM pg_stat_activity WHERE pid = $1`,
    [pid],
  )
  return [(rows[0] as { key: string }).key]
}

const openLog = (url = primary.url): AuditLog =>
  new AuditLog({
    store: postgresStore({ connectionString: url }),
    types: { 'test:live': {} },
    waiting: { deadlineMs: DEADLINE_MS },
  })

/** The machine may be busy. */
const PATIENT = { timeoutMs: 60_000 }

const rejection = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'acknowledged',
    (error: { code: string }) => error.code,
  )

describe('a call whose commit the standby has not confirmed', () => {
  it('is acknowledged once a later commit is confirmed, and stored once', async () => {
    const audit = closing(openLog())
    await audit.recordCustom('before')
    suspend()
    const call = audit.recordCustom('unconfirmed')
    const ignored = await endWait('pg_cancel_backend')
    const waits = untilRow(WAITING, [ignored]).then(() => 'waits')
    expect(await Promise.race([waits, call.then(() => 'acknowledged')])).toBe('waits')
    resume()
    const event = await call
    expect((await audit.list('filter[type_eq]=unconfirmed')).events).toEqual([event])
    expect(audit.stats()).toMatchObject({ stored: 2, rejected: 0 })
  })

  describe('is not acknowledged early if the role gets no warnings:', () => {
    beforeAll(async () => {
      await admin.query(`CREATE ROLE quiet SUPERUSER LOGIN`)
      await admin.query(`ALTER ROLE quiet SET client_min_messages = error`)
    })

    /** Each function prepares the store, and then returns the call. */
    const WRITES: Record<string, (audit: AuditLog) => Promise<() => Promise<unknown>>> = {
      'an event': async (audit) => () => audit.recordCustom('quiet'),
      async 'an import'(audit) {
        // Makes the partition.
        await audit.importEvents([oldEvent().event])
        return () => audit.importEvents([oldEvent().event])
      },
      async 'a change of a live event'(audit) {
        const { event } = await openLive(audit)
        const change = { revision: 1, json: '{"n":1}' }
        return () => audit.store.changeLive(event!.id, change)
      },
      async 'the end of a live event'(audit) {
        const { event } = await openLive(audit)
        const change = { revision: 1, json: '{"n":1}' }
        await audit.store.changeLive(event!.id, change)
        return () => audit.store.closeLive(event!.id, change)
      },
      'a shared value': async (audit) => () => audit.store.updateState('quiet', () => 1),
    }
    const openLive = async (audit: AuditLog) => {
      const [event] = await audit.store.append([draft({}, { live: true })])
      return { event }
    }

    it.each(Object.entries(WRITES))('%s', async (_, prepare) => {
      const url = new URL(primary.url)
      url.username = 'quiet'
      const audit = closing(openLog(url.href))
      await audit.recordCustom('before')
      const write = await prepare(audit)
      suspend()
      const call = write()
      const ignored = await endWait('pg_cancel_backend')
      const waits = untilRow(WAITING, [ignored]).then(() => 'waits')
      expect(await Promise.race([waits, call.then(() => 'acknowledged')])).toBe('waits')
      resume()
      await call
    })
  })

  it('is rejected with OUTCOME_UNKNOWN at the deadline, and counted as rejected', async () => {
    const passDeadlines = driveDeadlines()
    const audit = closing(openLog())
    await audit.recordCustom('before')
    // The claim of the key is confirmed; the commit of the event is not. `admin` cannot check this, because in a
    // transaction pg_stat_activity shows the connections of its first query.
    const locking = new pg.Client({ connectionString: primary.url })
    closing({ close: () => locking.end() })
    await locking.connect()
    await locking.query('BEGIN; LOCK TABLE daybook.events IN EXCLUSIVE MODE')
    const record = () => audit.recordCustom('keyed', {}, { idempotencyKey: 'once' })
    const call = rejection(record())
    await untilRow(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)
    suspend()
    await locking.query('ROLLBACK')
    await untilRow(WAITING, [[]])
    passDeadlines()
    expect(await call).toBe('OUTCOME_UNKNOWN')
    resume()
    await untilSynchronous()
    const event = await record()
    expect((await audit.list('filter[type_eq]=keyed')).events).toEqual([event])
    expect(audit.stats()).toMatchObject({ calls: 3, rejected: 1, stored: 2 })
    const gap = async () => (await audit.list('filter[type_eq]=warn:audit_log:gap')).events[0]
    while (!(await gap())) await delay(10)
    expect((await gap())!.attributes['losses']).toContainEqual(
      expect.objectContaining({ type: 'keyed', reason: 'outcome_unknown', count: 1 }),
    )
  })
})

describe('an event that the standby has not confirmed', () => {
  /** Waits until this many commits wait for the standby. */
  const untilWaiting = (count: number): Promise<unknown> =>
    untilRow(
      `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' HAVING count(*) >= ${count}`,
    )

  let count = 0
  /** Two logs. A call of the first log waits for the standby. The other log lists its event. */
  const begin = async (
    prepare: (other: AuditLog, type: string) => Promise<void> = async () => {},
  ) => {
    const type = `waiting ${++count}`
    const [first, other] = [closing(openLog()), closing(openLog())]
    await first.recordCustom('before')
    await prepare(other, type)
    await other.recordCustom('before')
    suspend()
    const call = first.recordCustom(type)
    const listed = async () => (await other.list(`filter[type_eq]=${type}`)).events
    const untilListed = async (events: number): Promise<void> => {
      while ((await listed()).length < events) await delay(5)
    }
    await untilListed(1)
    return { other, type, call, listed, untilListed }
  }

  it('does not block another process, which stores the next event', async () => {
    const { other, type, call, listed, untilListed } = await begin()
    const settled: unknown[] = []
    const calls = [call, other.recordCustom(type)]
    for (const one of calls) void one.then((event) => settled.push(event))
    await untilListed(2)
    await untilWaiting(2)
    expect(settled).toEqual([])
    resume()
    expect(await Promise.all(calls)).toEqual(await listed())
  })

  const READS: Record<string, (audit: AuditLog, type: string) => Promise<unknown>> = {
    'a page of an export': async (audit, type) =>
      (await audit.pages(`filter[type_eq]=${type}`).next()).value!.length,
    'a consistency token': async (audit, type) => {
      const options = { consistencyToken: await audit.consistencyToken() }
      return (await audit.list(`filter[type_eq]=${type}`, options)).events.length
    },
    'what a removal may take': async (audit) =>
      (await audit.store.removableRanges!(0)).ranges.length + 1,
    'a list that waits until it is durable': async (audit, type) =>
      (await audit.list(`filter[type_eq]=${type}`, { durable: true })).events.length,
  }
  it.each(Object.entries(READS))('delays %s', async (_, read) => {
    const { other, type, call } = await begin()
    let isRead = false
    const reading = read(other, type).finally(() => (isRead = true))
    await untilWaiting(2)
    expect(isRead).toBe(false)
    resume()
    expect(await reading).toBe(1)
    await call
  })

  it('is not taken for durable after the wait for the standby was cancelled', async () => {
    const { other, type, call } = await begin()
    const read = () => other.list(`filter[type_eq]=${type}`, { durable: true })
    const first = read()
    await untilWaiting(2)
    await admin.query(
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`,
    )
    await untilWaiting(2)
    const second = read()
    const waits = untilWaiting(3).then(() => 'waits')
    expect(await Promise.race([waits, second.then(() => 'read')])).toBe('waits')
    resume()
    await Promise.all([first, second, call])
  })

  it('is not followed by a tail of another process', async () => {
    const received: string[] = []
    const { type, call } = await begin(async (other, type) => {
      const tail = other.tail(`filter[type_start]=${type}`)
      const reading = (async () => {
        for await (const event of tail) received.push(event.type)
      })()
      // It rejects when the log is closed, before this is checked.
      reading.catch(() => {})
      onTestFinished(() => expect(reading).rejects.toMatchObject({ code: 'CLOSED' }))
      // From now on, the tail is at the end of the log.
      while (received.length === 0) await other.recordCustom(`${type}, before`)
    })
    // One commit is from the call, the other from the tail.
    await untilWaiting(2)
    expect(received).not.toContain(type)
    resume()
    await call
    while (!received.includes(type)) await delay(5)
  })

  it('is not sealed', async () => {
    const schema = 'unsealed'
    const open = () =>
      closing(
        new AuditLog({
          store: postgresStore({ connectionString: primary.url, schema }),
          types: {},
        }),
      )
    const [first, other] = [open(), open()]
    await first.recordCustom('before')
    const ledger = other.store.ledger!
    await ledger.begin(0)
    suspend()
    const call = first.recordCustom('waiting')
    while ((await other.list('filter[type_eq]=waiting')).events.length === 0) await delay(5)
    let isRead = false
    const request = { after: 0, leaf: 0, seeds: [new Uint8Array(32)], limit: 10 }
    const reading = ledger.unsealed(request).finally(() => (isRead = true))
    await untilWaiting(2)
    expect(isRead).toBe(false)
    resume()
    expect((await reading).times).toHaveLength(2)
    await call
  })

  it('suppresses no call under its throttle', async () => {
    const schema = 'throttled'
    const open = () =>
      closing(
        new AuditLog({
          store: postgresStore({ connectionString: primary.url, schema }),
          types: { 'test:throttled': { throttle: { period: { hours: 1 } } } },
        }),
      )
    const [first, other] = [open(), open()]
    await first.recordCustom('before')
    await other.recordCustom('before')
    suspend()
    const call = first.record('test:throttled')
    while ((await other.list('filter[type_eq]=test:throttled')).events.length === 0) await delay(5)
    let isSettled = false
    const suppressed = other.record('test:throttled').finally(() => (isSettled = true))
    await untilWaiting(2)
    expect(isSettled).toBe(false)
    resume()
    expect(await suppressed).toBeUndefined()
    expect(await call).toBeDefined()
  })
})

it('warns that the outcome of `close` is unknown if the standby has not confirmed it', async () => {
  const passDeadlines = driveDeadlines()
  const audit = closing(openLog())
  const live = await audit.recordLive('test:live')
  suspend()
  const call = rejection(live.close())
  await untilRow(WAITING, [[]])
  passDeadlines()
  expect(await call).toBe('OUTCOME_UNKNOWN')
  resume()
  await untilSynchronous()
})

/** Each gets the id of an open live event. */
const WRITES: Record<
  string,
  (store: EventStore, id: string, options: WaitOptions) => Promise<unknown>
> = {
  'an import': (store, _, options) => store.importEvents([oldEvent()], options),
  'a change of a live event': (store, id, options) =>
    store.changeLive(id, { revision: 1, json: '{"n":2}' }, options),
  'the end of a live event': (store, id, options) =>
    store.closeLive(id, { revision: 1, json: '{"n":3}' }, options),
  'a change of a shared value': (store, id, options) => store.updateState(id, () => id, options),
  'a report of suppressed calls': (store, id, options) =>
    store.reportSuppressed({ reporter: id, number: 1, counts: [] }, options),
}

/** Calls that are repeated if the connection breaks. */
const RETRIED = [
  'an import',
  'a change of a live event',
  'the end of a live event',
  'a report of suppressed calls',
] as const

describe('a write', () => {
  let store: EventStore
  const begin = async (): Promise<string> => {
    const [event] = await store.append([draft({ n: 1 }, { live: true })])
    const { id } = event!
    // An open event would be closed as unfinished during a later test. Then the commit of that test would not be the
    // only waiting one.
    onTestFinished(async () => {
      const open = (await store.openEvents()).find((one) => one.id === id)
      if (open) await store.closeLive(id, { revision: open.revision + 1 })
    })
    return id
  }
  beforeAll(async () => {
    store = postgresStore({ connectionString: primary.url, schema: 'writes' })
    // Creates the partition, so that an import commits once.
    await store.importEvents([oldEvent()])
  })
  afterAll(() => store.close())

  const expectConfirmed = async (write: (typeof WRITES)[string], end: EndOfWait): Promise<void> => {
    const id = await begin()
    suspend()
    const call = write(store, id, {})
    const ignored = await endWait(end)
    const waits = untilRow(WAITING, [ignored]).then(() => 'waits')
    expect(await Promise.race([waits, rejection(call)])).toBe('waits')
    resume()
    await call
  }

  for (const [name, write] of Object.entries(WRITES)) {
    it(`is acknowledged once a later commit is confirmed: ${name}`, () =>
      expectConfirmed(write, 'pg_cancel_backend'))

    it(`has an unknown outcome if it is aborted before the confirmation: ${name}`, async () => {
      const id = await begin()
      suspend()
      const stop = new AbortController()
      const call = rejection(write(store, id, { signal: stop.signal }))
      await untilRow(WAITING, [[]])
      stop.abort()
      expect(await call).toBe('OUTCOME_UNKNOWN')
      resume()
      // The next test begins without a commit in doubt.
      await store.touchLive([])
    })
  }

  for (const name of RETRIED)
    it(`is confirmed although its connection broke after the commit: ${name}`, () =>
      expectConfirmed(WRITES[name]!, 'pg_terminate_backend'))
})

describe('synchronous_commit', () => {
  /** The URL of a role with this setting. */
  const roleWith = async (setting: string): Promise<string> => {
    await admin.query(`CREATE ROLE ${setting}_writer SUPERUSER LOGIN`)
    await admin.query(`ALTER ROLE ${setting}_writer SET synchronous_commit = ${setting}`)
    const url = new URL(primary.url)
    url.username = `${setting}_writer`
    return url.href
  }

  it.each([
    [
      'local',
      /^synchronous_commit is local, so no commit waits for the synchronous standby.* the role$/,
    ],
    ['off', /^synchronous_commit is off: .* in transactions of your own.* for the role$/],
  ])('of a role is reported if it is %s', async (setting, message) => {
    const url = await roleWith(setting)
    const warnings = takeWarnings()
    const audit = closing(openLog(url))
    await audit.recordCustom('one')
    await audit.recordCustom('two')
    const text = expect.stringMatching(message)
    expect(warnings).toEqual([text])
    expect((await audit.health(PATIENT)).store).toMatchObject({ status: 'warn', warnings: [text] })
    const checkups = await postgresCheckups({ connectionString: url })
    const found = checkups.find(({ name }) => name === 'synchronous_commit')!
    expect(found).toMatchObject({ status: 'warn' })
    expect(`${found.found}; ${found.remedy!}`).toMatch(message)
  })

  it('is not reported if it is on', async () => {
    const url = await roleWith('remote_apply')
    const warnings = takeWarnings()
    const audit = closing(openLog(url))
    await audit.recordCustom('one')
    expect(warnings).toEqual([])
    expect((await audit.health(PATIENT)).store.status).toBe('pass')
  })
})

it('loses no acknowledged event when the standby takes over', async () => {
  const passDeadlines = driveDeadlines()
  const audit = openLog()
  const kept = await audit.recordCustom('kept')
  await standby.crash()
  const calls = Promise.all(['a', 'b', 'c'].map((type) => rejection(audit.recordCustom(type))))
  await untilRow(WAITING, [[]])
  passDeadlines()
  const answers = await calls
  await primary.crash()
  const closed = audit.close()
  passDeadlines()
  await closed
  await standby.start()
  await standby.promote()
  const after = closing(openLog(standby.url))
  const acknowledged = ['a', 'b', 'c'].filter((_, i) => answers[i] === 'acknowledged')
  const { events } = await after.list()
  expect(events).toContainEqual(kept)
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(acknowledged))
  expect(answers).toEqual(['OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN', 'OUTCOME_UNKNOWN'])
})
