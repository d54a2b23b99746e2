import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, AuditLogError } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
  vi,
} from 'vitest'
import { DEADLINE_MS, driveDeadlines } from '../../support/deadlines.js'
import { useLeapingTime } from '../../support/leaping-time.js'
import { type OwnServer, startOwnPostgres } from '../../support/postgres.js'
import { soakRounds, soakTimeout } from '../../support/soak.js'
import { type Proxy, startProxyOf } from '../../support/proxy.js'

const time = useLeapingTime()
let server: OwnServer
let schemas = 0
let schema = ''

beforeAll(async () => {
  server = await startOwnPostgres()
})

afterAll(() => server.stop())

beforeEach(() => {
  schema = `outage_${schemas++}`
})

interface LogOptions {
  readonly deadlineMs?: number
  readonly pool?: pg.Pool
  readonly queryTimeoutMs?: number
}

const openLog = ({ deadlineMs = 30_000, pool, ...options }: LogOptions = {}): AuditLog =>
  new AuditLog({
    store: postgresStore({
      ...(pool ? { pool } : { connectionString: server.url }),
      schema,
      ...options,
    }),
    types: {},
    waiting: { deadlineMs },
  })

/** Creates the schema, which a short deadline does not allow for. */
async function makeSchema(): Promise<void> {
  const store = postgresStore({ connectionString: server.url, schema })
  await store.openEvents()
  await store.close()
}

async function administerIn(database: string, ...statements: string[]): Promise<void> {
  const url = new URL(database, server.url)
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
const administer = (...statements: string[]): Promise<void> =>
  administerIn('postgres', ...statements)

/** The numbers of the stored events without gap events, read by a separate log. */
async function stored(): Promise<unknown[]> {
  await using audit = openLog()
  const found: unknown[] = []
  const filter = 'filter[type_eq]=test:outage&filter[sorts]=created_at'
  for await (const events of audit.pages(filter))
    found.push(...events.map((event) => event.attributes['n']))
  return found
}

/** Waits until the other connections have ended: their sessions have the settings from before. */
const END_OTHERS = `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
  WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`

interface Load {
  readonly acknowledged: number[]
  readonly rejected: { readonly n: number; readonly error: unknown }[]
  stop(): Promise<void>
}

/** Records in several concurrent loops until it is stopped. */
function load(audit: AuditLog, lanes: number): Load {
  const acknowledged: number[] = []
  const rejected: { n: number; error: unknown }[] = []
  let n = 0
  let isRunning = true
  const lane = async (): Promise<void> => {
    while (isRunning) {
      const own = n++
      try {
        await audit.recordCustom('test:outage', { n: own })
        acknowledged.push(own)
      } catch (error) {
        rejected.push({ n: own, error })
      }
      await delay(Math.random() * 5)
    }
  }
  const running = Array.from({ length: lanes }, lane)
  return {
    acknowledged,
    rejected,
    async stop() {
      isRunning = false
      await Promise.all(running)
    },
  }
}

/** Checks that acknowledged events are stored once, and rejected events are not, unless their outcome is unknown. */
async function expectExact({ acknowledged, rejected }: Load): Promise<void> {
  const found = await stored()
  expect(found.length).toBe(new Set(found).size)
  const there = new Set(found)
  expect(acknowledged.filter((n) => !there.has(n))).toEqual([])
  const kept = rejected.filter(({ n }) => there.has(n))
  expect(kept.filter(({ error }) => (error as AuditLogError).code !== 'OUTCOME_UNKNOWN')).toEqual(
    [],
  )
  expect(there.size).toBe(acknowledged.length + kept.length)
}

async function expectRejection(promise: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(AuditLogError)
  expect((error as AuditLogError).code).toBe('DEADLINE_EXCEEDED')
  expect((error as AuditLogError).message).toMatch(message)
}

describe('under load', { timeout: soakTimeout(180_000) }, () => {
  it('the server crashes and restarts', async () => {
    const audit = openLog()
    const first = load(audit, 30)
    for (const _ of soakRounds(1)) {
      await delay(50 + Math.random() * 100)
      const before = first.acknowledged.length
      await server.restart()
      while (first.acknowledged.length === before) await delay(10)
    }
    await first.stop()
    expect(first.rejected).toEqual([])
    await expectExact(first)
    await audit.close()
  })

  it('connections are terminated', async () => {
    const audit = openLog()
    const first = load(audit, 30)
    for (const _ of soakRounds(2)) {
      await delay(Math.random() * 30)
      const before = first.acknowledged.length
      await administer(END_OTHERS)
      while (first.acknowledged.length === before) await delay(5)
    }
    await first.stop()
    expect(first.rejected).toEqual([])
    await expectExact(first)
    await audit.close()
  })

  it('the server is suspended for longer than the deadline', async () => {
    await makeSchema()
    const audit = openLog({ deadlineMs: 800 })
    const first = load(audit, 30)
    while (first.acknowledged.length === 0) await delay(10)
    for (const _ of soakRounds(1)) {
      await delay(200 + Math.random() * 50)
      const before = first.rejected.length
      const goOn = server.freeze()
      while (first.rejected.length === before) await delay(20)
      goOn()
      const acknowledged = first.acknowledged.length
      while (first.acknowledged.length === acknowledged) await delay(10)
    }
    await first.stop()
    // If the server was suspended while it confirmed a commit, the outcome of its events is unknown.
    for (const { error } of first.rejected)
      expect(['DEADLINE_EXCEEDED', 'OUTCOME_UNKNOWN']).toContain((error as AuditLogError).code)
    // Removes events of calls that were rejected last. `close` has only a second for this.
    while (!(await audit.recordCustom('test:end').catch(() => undefined))) await delay(10)
    await audit.close()
    await expectExact(first)
  })
})

describe('a suspended server', () => {
  let goOn = (): void => {}
  afterEach(() => goOn())

  it('does not delay a call beyond its deadline', async () => {
    await makeSchema()
    const passDeadlines = driveDeadlines()
    const audit = openLog({ deadlineMs: DEADLINE_MS, queryTimeoutMs: 700 })
    await audit.recordCustom('test:outage', { n: 0 })
    // By then the pool has a free connection for the next call.
    await delay(300)
    goOn = server.freeze()
    const late = audit.recordCustom('test:outage', { n: 1 })
    late.catch(() => {})
    await delay(300)
    passDeadlines()
    await expectRejection(late, new RegExp(`within ${DEADLINE_MS} ms`))
    await expect(audit.list()).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' })
    goOn()
    await audit.recordCustom('test:outage', { n: 2 })
    expect(await stored()).toEqual([0, 2])
    await audit.close()
  })

  it('does not delay close after aborted calls', async () => {
    const audit = openLog({ queryTimeoutMs: 300 })
    await audit.recordCustom('test:outage', { n: 0 })
    // Free connections of the pool, for calls and cancel requests.
    await Promise.allSettled(Array.from({ length: 8 }, () => audit.list()))
    goOn = server.freeze()
    const lists = Array.from({ length: 2 }, () => audit.list())
    for (const settled of await Promise.allSettled(lists)) expect(settled.status).toBe('rejected')
    await audit.close()
  })

  it('does not delay close while LISTEN is under way', async () => {
    const store = postgresStore({ connectionString: server.url, schema })
    await store.openEvents()
    goOn = server.freeze()
    store.watch(() => {})
    // After this time LISTEN has been sent.
    await delay(100)
    await store.close()
  })
})

describe(
  'events that cannot be stored wait, and are rejected with the reason',
  { timeout: 180_000 },
  () => {
    /** Calls fail at their deadline during the outage. Calls that wait at its end succeed. */
    const expectRetry = async (
      reason: RegExp,
      breakIt: () => Promise<unknown>,
      mendIt: () => Promise<unknown>,
    ): Promise<void> => {
      await makeSchema()
      const passDeadlines = driveDeadlines()
      const shortLog = openLog({ deadlineMs: DEADLINE_MS })
      const longLog = openLog({ deadlineMs: 1000 * DEADLINE_MS })
      /** The error of a call at its deadline. The store may not have tried the call yet. */
      const rejection = async (): Promise<AuditLogError> => {
        const call = shortLog.recordCustom('test:outage', { n: 3 })
        const error = call.then(
          () => expect.unreachable('it was stored'),
          (thrown: AuditLogError) => thrown,
        )
        await delay(200)
        passDeadlines()
        return error
      }
      await shortLog.recordCustom('test:outage', { n: 0 })
      await longLog.recordCustom('test:outage', { n: 1 })
      await breakIt()
      try {
        const waiting = longLog.recordCustom('test:outage', { n: 2 })
        let error: AuditLogError
        do {
          error = await rejection()
          expect(error).toMatchObject({
            code: 'DEADLINE_EXCEEDED',
            message: expect.stringContaining(`did not take the event within ${DEADLINE_MS} ms`),
          })
        } while (!reason.test(error.message))
        await mendIt()
        expect((await waiting)?.attributes).toEqual({ n: 2 })
        await shortLog.recordCustom('test:outage', { n: 4 })
        expect(await stored()).toEqual([0, 1, 2, 4])
      } finally {
        await mendIt()
        await shortLog.close()
        await longLog.close()
      }
    }

    it('while the server refuses connections', async () => {
      let isDown = false
      await expectRetry(
        / ms: .*ECONNREFUSED/,
        async () => {
          await server.crash()
          isDown = true
        },
        async () => {
          if (isDown) await server.start()
          isDown = false
        },
      )
    })

    it('while the server is read-only', () =>
      expectRetry(
        / ms: cannot execute .* in a read-only transaction/,
        () =>
          administer('ALTER DATABASE postgres SET default_transaction_read_only = on', END_OTHERS),
        () =>
          administer(
            'SET default_transaction_read_only = off',
            'ALTER DATABASE postgres RESET default_transaction_read_only',
            END_OTHERS,
          ),
      ))

    it('while the server is out of disk space', () =>
      expectRetry(
        / ms: could not extend file "base\/1\/2": No space left on device/,
        () =>
          administer(
            `CREATE FUNCTION ${schema}.no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             RAISE 'could not extend file "base/1/2": No space left on device' USING ERRCODE = 'disk_full';
           END $$`,
            `CREATE TRIGGER no_room BEFORE INSERT ON ${schema}.events EXECUTE FUNCTION ${schema}.no_room()`,
          ),
        () => administer(`DROP FUNCTION IF EXISTS ${schema}.no_room CASCADE`),
      ))

    it('while the database accepts no connections', () =>
      expectRetry(
        / ms: .*not currently accepting connections|permission denied for database|too many connections/,
        () =>
          administerIn('template1', 'ALTER DATABASE postgres ALLOW_CONNECTIONS false', END_OTHERS),
        () => administerIn('template1', 'ALTER DATABASE postgres ALLOW_CONNECTIONS true'),
      ))
  },
)

describe('a lost result', () => {
  const LOST_DEADLINE_MS = 20_000
  let proxy: Proxy
  let pool: pg.Pool

  beforeEach(async () => {
    const through = await startProxyOf(server.url)
    proxy = through.proxy
    pool = new pg.Pool({ connectionString: through.url })
    pool.on('error', () => {})
    return async () => {
      await proxy.close()
      await pool.end()
    }
  })

  /** Opens the connection for the next statement, because none can be opened while results are lost. */
  const untilIdle = async (): Promise<void> => {
    await delay(100)
    while (pool.idleCount === 0) await delay(5)
  }

  it('leaves one event if the draft is appended again', async () => {
    const audit = openLog({ pool })
    await audit.recordCustom('test:outage', { n: 0 })
    await untilIdle()
    proxy.loseAnswers(200)
    const waiting = Promise.all([
      audit.recordCustom('test:outage', { n: 1 }),
      audit.recordCustom('test:outage', { n: 2 }),
    ])
    while ((await stored()).length < 3) await delay(10)
    await delay(250)
    proxy.heal()
    const events = await waiting
    expect(await stored()).toEqual([0, 1, 2])
    for (const event of events) expect(await audit.get(event!.id)).toEqual(event)
    await audit.recordCustom('test:outage', { n: 3 })
    expect(await stored()).toEqual([0, 1, 2, 3])
    await audit.close()
  })

  it.each([
    ['after the next call', true],
    ['without another call', false],
  ])('leaves no rejected event, %s', async (_, hasNext) => {
    const audit = openLog({ pool, deadlineMs: LOST_DEADLINE_MS })
    await audit.recordCustom('test:outage', { n: 0 })
    await untilIdle()
    proxy.loseAnswers(100)
    const waiting = audit.recordCustom('test:outage', { n: 1 })
    waiting.catch(() => {})
    while ((await stored()).length < 2) await delay(10)
    proxy.refuse()
    time.leap(LOST_DEADLINE_MS)
    await expectRejection(waiting, new RegExp(`within ${LOST_DEADLINE_MS} ms`))
    proxy.heal()
    if (hasNext) await audit.recordCustom('test:outage', { n: 2 })
    else while ((await stored()).length > 1) await delay(100)
    expect(await stored()).toEqual(hasNext ? [0, 2] : [0])
    await audit.close()
  })
})

it('a store can be created while the server is away', async () => {
  await server.crash()
  const audit = openLog()
  const waiting = audit.recordCustom('test:outage', { n: 1 })
  await expect(audit.list()).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await server.start()
  await waiting
  expect(await stored()).toEqual([1])
  await audit.close()
})

describe('reading while the server is away', () => {
  it('waits until the server is back', async () => {
    // The server may take long to start.
    const audit = openLog({ queryTimeoutMs: 60_000 })
    const event = await audit.recordCustom('test:outage', { n: 1 })
    await server.crash()
    let refused = 0
    const connect = net.Socket.prototype.connect
    vi.spyOn(net.Socket.prototype, 'connect').mockImplementation(function (
      this: net.Socket,
      ...target: unknown[]
    ) {
      refused++
      return Reflect.apply(connect, this, target) as net.Socket
    })
    onTestFinished(() => void vi.restoreAllMocks())
    const page = audit.list()
    const got = audit.get(event!.id)
    const counted = audit.count()
    while (refused < 9) await delay(10)
    await server.start()
    expect((await page).events).toEqual([event])
    expect(await got).toEqual(event)
    expect(await counted).toMatchObject({ total: 1 })
    await audit.close()
  })

  it('ends with the reason at the time limit', async () => {
    await makeSchema()
    const audit = openLog({ queryTimeoutMs: 1000 })
    // Connects, and checks the schema, without the time limit of a query.
    await audit.store.touchLive([])
    await server.crash()
    await expect(audit.list()).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('ECONNREFUSED'),
    })
    await server.start()
    await audit.close()
  })
})
