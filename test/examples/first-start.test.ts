import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { AuditLog, type AuditLogError, parseTimestamp } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startService } from '../../examples/workflow-service/app.js'
import { serviceEventTypes } from '../../examples/workflow-service/event-types.js'
import { HISTORY_DAYS, makeHistory } from '../../examples/workflow-service/history/history.js'
import { openLedger, sealLog } from '../../examples/workflow-service/ledger.js'
import { type StoreOption, wantsHistory } from '../../examples/workflow-service/options.js'
import { runScript } from '../support/child.js'
import { blocksOf, docPages, root } from '../support/doc-pages.js'
import { listOf, send } from '../support/http.js'
import { tempDir } from '../support/temp.js'

const MAIN = 'examples/workflow-service/main.ts'

/** The output of the first start according to the README. */
const README = docPages.find(({ file }) => file === 'README.md')!
const printed = blocksOf(README, 'text').find(({ code }) =>
  code.includes('workflow service at'),
)!.code

const sqlite: StoreOption = { kind: 'sqlite', filename: 'daybook.db' }
const memory: StoreOption = { kind: 'memory' }
const postgres: StoreOption = { kind: 'postgres', connectionString: 'postgres://localhost/x' }

it.each([
  [true, true, sqlite, true],
  [true, true, postgres, true],
  [false, true, memory, true],
  [false, true, sqlite, false],
  [false, false, sqlite, true],
  [false, undefined, sqlite, true],
] as const)('history: %s for terminal %s, store %o, traffic %s', (wanted, tty, store, traffic) => {
  expect(wantsHistory(tty, { store, traffic })).toBe(wanted)
})

it('the history has known types, in order, on the days before', async () => {
  const now = new Date('2026-03-10T10:00:00')
  const events = await makeHistory(now, (link) => link.path)
  expect(printed).toContain(`imported ${events.length} events`)
  const times = events.map(({ created_at }) => parseTimestamp(created_at)! / 1000)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(new Set(times).size).toBe(times.length)
  const dayOf = (time: number): string => new Date(time).toDateString()
  expect(new Set(times.map(dayOf)).size).toBe(HISTORY_DAYS)
  expect(times.at(-1)).toBeLessThan(new Date('2026-03-10T00:00:00').getTime())
  expect(events.every(({ type }) => type in serviceEventTypes || type.startsWith('error:'))).toBe(
    true,
  )
  expect(events.every(({ attributes }) => attributes['demo_history'] === true)).toBe(true)
})

it('only a log without events gets the history', async () => {
  const { file, remove } = tempDir()
  onTestFinished(remove)
  const store = { kind: 'sqlite', filename: file('daybook.db') } as const
  const start = async (): Promise<number> => {
    const service = await startService({ port: 0, store, traffic: false, history: true })
    try {
      const count = await service.history
      const query = '/api/events?limit=1000&filter[demo_history_true]=1'
      expect(listOf(await send(service.url, query)).data).toHaveLength(410)
      const ready = await send(service.url, '/health/ready', { user: null })
      expect(ready.status, ready.body).toBe(200)
      return count
    } finally {
      await service.close()
    }
  }
  expect(await start()).toBe(410)
  expect(await start()).toBe(0)
})

it('the ledger begins with the log, and never stops a start', async () => {
  const { file, remove } = tempDir()
  onTestFinished(remove)
  const [filename, folder] = [file('daybook.db'), file('daybook-ledger')]
  const start = async () => {
    const ledger = await openLedger({ kind: 'sqlite', filename })
    const { options, lines } = ledger
    const audit = new AuditLog({ store: sqliteStore({ filename }), types: {}, ledger: options })
    try {
      await audit.recordCustom('test:event', {})
      const failure = await sealLog(audit, ledger).then(
        () => 'none',
        ({ code }: AuditLogError) => code,
      )
      const { events } = await audit.list('filter[type_eq]=info:audit_log:adopt')
      const adopted = events.map(({ attributes }) => attributes['count'])
      const named = lines.map((line) => line.replaceAll(folder, 'F').replace(/[-\dTZ]+$/, ''))
      return { lines: named, adopted, failure }
    } finally {
      await audit.close()
    }
  }
  const begun = 'ledger: key and heads in F'
  const moved = 'ledger: another one begins; the files of the last one are in F-until'
  const older = new AuditLog({ store: sqliteStore({ filename }), types: {} })
  await older.recordCustom('test:event', {})
  await older.close()
  expect(await start()).toEqual({ lines: [begun], adopted: [1], failure: 'none' })
  expect(await start()).toEqual({ lines: [begun], adopted: [1], failure: 'none' })
  for (const end of ['', '-wal', '-shm']) fs.rmSync(filename + end, { force: true })
  expect(await start()).toEqual({ lines: [moved, begun], adopted: [], failure: 'none' })
  fs.rmSync(path.join(folder, 'key.pem'))
  const lost = { lines: [moved, begun], adopted: [], failure: 'LEDGER_DIVERGED' }
  expect(await start()).toEqual(lost)
  fs.chmodSync(path.join(folder, 'key.pem'), 0o644)
  const line = expect.stringMatching(/^ledger: none, because every user of this machine can read/)
  expect(await start()).toEqual({ lines: [line], adopted: [], failure: 'none' })
  expect(await openLedger({ kind: 'memory' })).toEqual({ lines: [], adopts: false })
})

/** NODE_OPTIONS that run this code in the process first. */
const first = (code: string): string =>
  `${process.env['NODE_OPTIONS'] ?? ''} --import=data:text/javascript,${encodeURIComponent(code)}`

describe('the process', () => {
  it('prints the output in the README on a terminal, the address first', async () => {
    const { file, remove } = tempDir()
    const demo = runScript(MAIN, [], {
      PORT: '0',
      DAYBOOK_STORE: `sqlite:${file('daybook.db')}`,
      NODE_OPTIONS: first('process.stdout.isTTY = true'),
    })
    try {
      await demo.saw('demo_history')
      const [address] = /http:\/\/\S+/.exec(demo.stdout())!
      expect(demo.stdout()).toBe(
        printed
          .replaceAll('http://localhost:3000', address)
          .replace('daybook-ledger', file('daybook-ledger')),
      )
    } finally {
      await demo.kill('SIGTERM')
      remove()
    }
  })

  it('says in one line which package is missing', async () => {
    const hooks = `export const resolve = (name, context, next) => {
      if (name === 'better-sqlite3')
        throw Object.assign(new Error("Cannot find package 'better-sqlite3'"), { code: 'ERR_MODULE_NOT_FOUND' })
      return next(name, context)
    }`
    const register = `import { register } from 'node:module'
      register('data:text/javascript,${encodeURIComponent(hooks).replaceAll("'", '%27')}')`
    const demo = runScript(MAIN, [], {
      PORT: '0',
      DAYBOOK_STORE: 'memory:',
      NODE_OPTIONS: first(register),
    })
    expect(await demo.ended).toBe(1)
    expect(demo.stderr().trim()).toMatch(
      /^Cannot find package 'better-sqlite3'.*: run npm install$/,
    )
  })
})

describe('check-node.js', () => {
  const run = (version: string) =>
    promisify(execFile)(
      process.execPath,
      [path.join(root, 'examples/workflow-service/check-node.js')],
      {
        env: {
          ...process.env,
          NODE_OPTIONS: first(
            `Object.defineProperty(process.versions, 'node', { value: '${version}' })`,
          ),
        },
      },
    )

  it.each(['20.19.0', '22.0.0'])('lets Node %s pass', async (version) => {
    expect(await run(version)).toEqual({ stdout: '', stderr: '' })
  })

  it.each(['20.18.3', '18.20.4'])('refuses Node %s in one line', async (version) => {
    const stderr = `the demo needs Node 20.19 or newer; this is Node ${version}\n`
    await expect(run(version)).rejects.toMatchObject({ code: 1, stdout: '', stderr })
  })
})
