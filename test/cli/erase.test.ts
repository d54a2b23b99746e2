import { createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import fs from 'node:fs'
import type { AuditEvent, AuditLogOptions, EventTypes } from 'daybook'
import { memorySubjectKeys } from 'daybook/memory'
import { keyFile } from 'daybook/ledger'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SubjectKeys } from '../../src/privacy/subject-keys.js'
import { kept, personalTypes, UPDATE } from '../support/erasing.js'
import { ledgerKey, ORIGIN } from '../support/ledger-key.js'
import { type FileLog, openFileLog } from './logs.js'
import { runCli } from './run-cli.js'

/** The member of `globalThis` from which the modules of `--config` take their default exports. */
const SHARED = 'daybookTestExports'
const shared: Record<string, unknown> = {}
Object.defineProperty(globalThis, SHARED, { value: shared, configurable: true })

const REQUEST = ['--reason', 'request 4711', '--username', 'dpo']

let log: FileLog
let keys: SubjectKeys
let config: string

/** A module whose default export is this value. */
function moduleOf(value: unknown): string {
  const name = randomUUID()
  shared[name] = value
  const file = log.temp.file(`${name}.mjs`)
  fs.writeFileSync(file, `export default globalThis.${SHARED}['${name}']\n`)
  return file
}
const configOf = (options: Partial<AuditLogOptions<EventTypes>> = {}): string =>
  moduleOf({ types: personalTypes, privacy: { keys: kept(keys) }, ...options })

const record = async (customer: string): Promise<AuditEvent> =>
  (await log.audit.recordSystem(UPDATE, {
    customer_id: customer,
    email: `${customer}@example.com`,
  }))!
const erased = async (): Promise<readonly AuditEvent[]> =>
  (await log.audit.list('filter[type_eq]=info:audit_log:erase')).events

beforeEach(() => {
  keys = memorySubjectKeys()
  log = openFileLog({ types: personalTypes, privacy: { keys: kept(keys) } })
  config = configOf()
})
afterEach(async () => {
  await log.close()
  await keys.close()
})

describe('daybook erase', () => {
  it('shows what it would erase, and erases it with --yes', async () => {
    await record('c17')
    await record('c17')
    const args = ['erase', log.file, 'customer=c17', '--config', config]
    for (const more of [[], ['--dry-run']]) {
      const preview = await runCli([...args, ...more])
      expect(preview.stdout).toMatch(/^would destroy the key [\w-]{22} of 2 events\n$/)
      expect(preview.stderr).toBe('nothing was erased; --yes erases\n')
      expect(preview.exit).toBe(0)
    }
    expect(await keys.erasures()).toEqual([])
    const { exit, stdout } = await runCli([...args, ...REQUEST, '--yes'])
    expect(stdout).toMatch(/^destroyed the key [\w-]{22} of 2 events\n$/)
    expect(exit).toBe(0)
    expect(await keys.erasures()).toMatchObject([{ events: 2, reason: 'request 4711' }])
    expect(await erased()).toMatchObject([{ username: 'dpo' }])
    const again = await runCli([...args, ...REQUEST, '--yes'])
    expect(again).toMatchObject({
      exit: 0,
      stdout: 'there is nothing to erase: the person has no key\n',
    })
    const json = await runCli([...args, '--json'])
    expect(JSON.parse(json.stdout)).toEqual({ ref: null, erased_at: null, events: 0, unsealed: 0 })
  })

  it('removes events by their ids', async () => {
    const [first, second, third] = [await record('c17'), await record('c17'), await record('c18')]
    const missing = randomUUID()
    const ids = ['--ids', `${first.id}, ${missing}`, '--ids', second.id]
    const preview = await runCli(['erase', log.file, ...ids])
    expect(preview.stdout).toBe(`would remove 2 events\nthere is no event ${missing}\n`)
    expect(await log.audit.get(first.id)).toBeDefined()
    const { exit, stdout } = await runCli(['erase', log.file, ...ids, ...REQUEST, '--yes'])
    expect([exit, stdout]).toEqual([
      0,
      expect.stringMatching(/^removed 2 events\nthere is no event/),
    ])
    for (const { id } of [first, second]) expect(await log.audit.get(id)).toBeUndefined()
    expect(await log.audit.get(third.id)).toBeDefined()
    expect(await erased()).toMatchObject([{ attributes: { ids: [first.id, second.id] } }])
  })

  it('signs the removal of events with the signer of the module', async () => {
    const key = await ledgerKey()
    const ledger = { origin: ORIGIN, signer: keyFile(key.file) }
    const own = openFileLog({ ledger })
    const event = (await own.audit.recordSystem('x', { n: 1 }))!
    const head = await own.audit.ledger.checkpoint()
    const args = ['erase', own.file, '--ids', event.id, ...REQUEST, '--yes', '--config']
    const refused = await runCli([...args, moduleOf({ ledger: { origin: ORIGIN, key: key.vkey } })])
    expect([refused.exit, refused.stderr]).toEqual([
      1,
      expect.stringContaining('only the process that seals it removes events'),
    ])
    await own.audit.close()
    const { exit, stdout } = await runCli([...args, moduleOf({ ledger })])
    expect([exit, stdout]).toEqual([0, 'removed 1 event\n'])
    const verified = await runCli(['verify', own.file, '--ledger', '--key', key.vkey, '--json'])
    expect(verified.stdout).toContain('"removed":1,"pending":0,"findings":0')
    expect(head).toContain(ORIGIN)
    await own.close()
    key.remove()
  })

  it('is refused by a hold of the module, also without --yes', async () => {
    const event = await record('c17')
    const holds = [{ filter: 'filter[customer_id_eq]=c17' }]
    const args = ['--config', configOf({ cleaning: { rules: [], holds } }), ...REQUEST]
    for (const what of ['customer=c17', '--ids='.concat(event.id)])
      for (const yes of [[], ['--yes']]) {
        const { exit, stderr } = await runCli(['erase', log.file, what, ...args, ...yes])
        expect([exit, stderr]).toEqual([1, expect.stringContaining(`keeps the event ${event.id}`)])
      }
    expect(await keys.erasures()).toEqual([])
    expect(await log.audit.get(event.id)).toBeDefined()
  })

  it.each([
    ['no person', [], 'give a person, such as customer=c17, or --ids'],
    ['a person and ids', ['customer=c17', '--ids', 'x'], 'but not both'],
    ['no kind', ['=c17'], 'must be given as <kind>=<id>'],
    ['no id', ['customer='], 'must be given as <kind>=<id>'],
    ['another kind', ['custmer=c17'], 'did you mean customer?'],
    ['no reason', ['customer=c17', '--username', 'dpo', '--yes'], '--reason is missing'],
    [
      'a blank user',
      ['customer=c17', '--reason', 'x', '--username', ' ', '--yes'],
      '--username is missing',
    ],
    ['both modes', ['customer=c17', ...REQUEST, '--yes', '--dry-run'], 'cannot be used together'],
  ])('refuses a call with %s', async (_what, args, message) => {
    const { exit, stderr } = await runCli(['erase', log.file, ...args, '--config', config])
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('needs the keys for a person', async () => {
    const { exit, stderr } = await runCli(['erase', log.file, 'customer=c17'])
    expect([exit, stderr]).toEqual([2, expect.stringContaining('--config <module> with privacy')])
  })
})

describe('daybook erasures', () => {
  it('shows what is not complete', async () => {
    await record('c17')
    const event = await record('c18')
    const { ref } = await log.audit.erase({ customer: 'c17' }, { reason: 'one', username: 'dpo' })
    await log.audit.erase({ ids: [event.id] }, { reason: 'two', username: 'dpo' })
    const { stdout } = await runCli(['erasures', log.file, '--config', config])
    const [first, second, ...more] = stdout.split('\n')
    expect(more).toEqual([''])
    expect(first).toMatch(new RegExp(`\t${ref}\t1\tdpo\tone\t\t.*backups of the keys`))
    expect(second).toContain(`\t${event.id}\t1\tdpo\ttwo\t`)
    const json = await runCli(['erasures', log.file, '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ ref: null, ids: [event.id], reason: 'two' })
  })
})

describe('daybook subject-report', () => {
  it('prints the events of a person in clear', async () => {
    const [first, , second] = [await record('c17'), await record('c18'), await record('c17')]
    const args = ['subject-report', log.file, 'customer=c17', '--config', config]
    const { exit, stdout } = await runCli(args)
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditEvent)
    expect(exit).toBe(0)
    expect(events.map(({ id }) => id)).toEqual([first.id, second.id])
    expect(events[0]!.attributes).toMatchObject({ email: 'c17@example.com' })
    const file = log.temp.file('report.ndjson')
    expect(await runCli([...args, '--out', file])).toMatchObject({ exit: 0, stdout: '' })
    expect(fs.readFileSync(file, 'utf8')).toBe(stdout)
    expect(fs.statSync(file).mode & 0o777).toBe(0o600)
    const again = await runCli([...args, '--out', file])
    expect([again.exit, again.stderr]).toEqual([2, expect.stringContaining('exists')])
  })

  it('writes no file if it is refused', async () => {
    const file = log.temp.file('report.ndjson')
    const args = ['subject-report', log.file, 'custmer=c17', '--config', config, '--out', file]
    const { exit, stderr } = await runCli(args)
    expect([exit, stderr]).toEqual([2, expect.stringContaining('did you mean customer?')])
    expect(fs.existsSync(file)).toBe(false)
  })

  it('is recorded where reads are', async () => {
    await record('c17')
    const reading = configOf({ ownEvents: { reads: true } })
    await runCli(['subject-report', log.file, 'customer=c17', '--config', reading], {
      env: { USER: 'ann' },
    })
    const { events } = await log.audit.list('filter[type_eq]=info:audit_log:read')
    expect(events).toMatchObject([{ username: 'ann', attributes: { action: 'subject_report' } }])
  })
})

describe('daybook doctor', () => {
  const warnings = async (file: string): Promise<string[]> => {
    const { stdout } = await runCli(['doctor', log.file, '--config', file])
    return stdout.split('\n').filter((line) => line.includes('\tprivacy\t'))
  }

  it('has no remark on opaque ids', async () => {
    for (const id of ['c17', '0196b3c2-0000-4000-8000-000000000001', '17', 'C-17 4'])
      await record(id)
    expect(await warnings(config)).toEqual([])
  })

  it.each(['ann.example@example.com', 'Ann Example', 'Müller, Jörg'])(
    'warns of %s as the id of a person, without repeating it',
    async (id) => {
      await record('c17')
      const event = await record(id)
      const [warning, ...more] = await warnings(config)
      expect(more).toEqual([])
      expect(warning).toContain('warn\tprivacy\tcustomer_id looks like a name')
      expect(warning).toContain(`in 1 of 2 events, such as ${event.id}`)
      expect(warning).not.toContain(id)
    },
  )

  it('warns of personal attributes that are stored readable', async () => {
    for (const privacy of [undefined, false] as const)
      expect(await warnings(configOf({ privacy }))).toEqual([
        expect.stringContaining(`personal attributes of ${UPDATE} are stored readable`),
      ])
  })
})

describe('daybook keys rotate', () => {
  it('wraps the keys with the next master key', async () => {
    await record('c17')
    await record('c18')
    const to = moduleOf(createSecretKey(randomBytes(32)))
    const { exit, stdout, stderr } = await runCli([
      'keys',
      'rotate',
      '--config',
      config,
      '--to',
      to,
    ])
    expect([exit, stdout]).toEqual([0, '2 keys wrapped with the next master key\n'])
    expect(stderr).toContain('destroy the former one')
    expect(await keys.rotatedAt()).toBeDefined()
  })

  it.each([
    ['no module', () => ['--config', config], '--to is missing'],
    ['no keys', () => ['--to', moduleOf(null)], '--config <module> with privacy'],
    [
      'a file that is not there',
      () => ['--config', config, '--to', 'none.mjs'],
      'there is no file',
    ],
    ['another value', () => ['--config', config, '--to', moduleOf({ id: 1 })], 'rotate'],
  ])('refuses a call with %s', async (_what, args, message) => {
    const { exit, stderr } = await runCli(['keys', 'rotate', ...args()])
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(await keys.rotatedAt()).toBeUndefined()
  })
})
